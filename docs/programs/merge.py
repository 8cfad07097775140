"""Merges a new release into a folder, by krm-merge on PATH: python3 merge.py ORIGINAL UPDATED DEST"""

import json
import subprocess
import sys
from pathlib import Path


def merge(**sides):
    ran = subprocess.run(["krm-merge", "merge"], input=json.dumps(sides).encode(), capture_output=True)
    if ran.returncode > 1:
        raise ValueError(ran.stderr.decode())
    return json.loads(ran.stdout)


def texts(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    # As bytes, because Python would change line ends.
    return {path.relative_to(folder).as_posix(): path.read_bytes().decode() for path in files}


def main(original, updated, dest):
    merged = merge(original=texts(original), updated=texts(updated), dest=texts(dest))
    for told in merged["results"]:
        print(f"{told['severity']}: {told['message']}", file=sys.stderr)
    for conflict in merged["conflicts"]:
        print(f"{conflict.get('file')}:{conflict.get('line')}: {conflict['what']}")
    for change in merged["changes"]:
        for gone in [change.get("from"), change["path"]]:
            if gone not in merged["files"] and gone is not None:
                (dest / gone).unlink()
        if change["kind"] != "removed":
            (dest / change["path"]).parent.mkdir(parents=True, exist_ok=True)
            (dest / change["path"]).write_bytes(merged["files"][change["path"]].encode())
    return int(not merged["passed"] or any(conflict["open"] for conflict in merged["conflicts"]))


sys.exit(main(*map(Path, sys.argv[1:])))
