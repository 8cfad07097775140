"""Runs the function in this process, by `pip install wasmtime`: python3 function.py krm-merge.wasm < LIST"""

import sys
import tempfile
from pathlib import Path

from wasmtime import Engine, ExitTrap, Linker, Module, Store, WasiConfig


class Function:
    def __init__(self, path):
        self.engine = Engine()
        self.linker = Linker(self.engine)
        self.linker.define_wasi()
        # It takes a moment to compile, so do it once.
        self.module = Module.from_file(self.engine, path)

    def run(self, resource_list):
        """Takes a ResourceList, and returns one, the lines of stderr, and whether the function passed."""
        with tempfile.TemporaryDirectory() as folder:
            stdin, stdout, stderr = (Path(folder) / name for name in ["in", "out", "err"])
            stdin.write_bytes(resource_list)
            wasi = WasiConfig()
            wasi.argv = ["krm-merge"]
            wasi.stdin_file, wasi.stdout_file, wasi.stderr_file = str(stdin), str(stdout), str(stderr)
            store = Store(self.engine)
            store.set_wasi(wasi)
            start = self.linker.instantiate(store, self.module).exports(store)["_start"]
            try:
                start(store)
                code = 0
            except ExitTrap as end:
                code = end.code
            return stdout.read_bytes(), stderr.read_bytes(), code == 0


function = Function(sys.argv[1])
out, err, passed = function.run(sys.stdin.buffer.read())
sys.stdout.buffer.write(out)
sys.stderr.buffer.write(err)
sys.exit(not passed)
