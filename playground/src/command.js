/** The command line that merges as the page does. */

import { modeOf } from "./modes.js";

/** What a terminal obeys. A file of YAML has none of it. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/u;

/**
 * The lines to paste into a terminal; null if the functionConfig holds characters that a terminal would obey.
 * @param {import("./state.js").State} state
 * @returns {string | null}
 */
export function toCommand(state) {
  const mode = modeOf(state.mode);
  if (mode.name === "Review") {
    // The command finds the values and the charts itself.
    return "kubectl krm-merge review .\n";
  }
  const flags = mode.roles.map((role) => {
    const flag = role === "source" && mode.name === "Strategic" ? "patch" : role;
    return ` --${flag} ${word(pathOf(state.sides[role], flag))}`;
  });
  const config = state.config.replaceAll("\r\n", "\n").trimEnd();
  if (CONTROLS.test(config)) {
    return null;
  }
  // On the page, an open conflict keeps dest's value until someone decides. In files, markers do that.
  const isMarked = mode.name === "ThreeWay" && !/^\s*onConflict:/m.test(config);
  const command = `kubectl krm-merge ${mode.command}${flags.join("")}${isMarked ? " --on-conflict mark" : ""}`;
  if (config === "") {
    return `${command} -o diff\n`;
  }
  let end = "EOF";
  while (config.split("\n").includes(end)) {
    end += "_";
  }
  return `cat > krm-merge-config.yaml <<'${end}'\n${config}\n${end}\n${command} --config krm-merge-config.yaml -o diff\n`;
}

/**
 * Where the files of a side are for the command: in a folder, or in a file of the side's name.
 * @param {import("./state.js").Files} files
 * @param {string} name
 */
function pathOf(files, name) {
  const [first] = files.keys();
  return files.size > 1 ? name : first ? `${name}/${first}` : `${name}.yaml`;
}

/**
 * A path as one word of a shell. What a terminal obeys becomes `?`, which stands for any character.
 * @param {string} path
 */
function word(path) {
  if (/^[\w./@%+=:,-]+$/u.test(path)) {
    return path;
  }
  const parts = path.split(/[\u0000-\u001f\u007f-\u009f]/u).map((part) => `'${part.replaceAll("'", "'\\''")}'`);
  return parts.join("?");
}
