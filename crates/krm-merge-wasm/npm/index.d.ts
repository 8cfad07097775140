/** Files by their paths. A text alone is one file, whose path is "". */
export type Files = string | Record<string, string>;

export type Mode = "TwoWay" | "ThreeWay" | "Strategic";

/** Who wins a conflict: `take` of a rule. */
export type Take = "Dest" | "Updated" | "Newest";

/** A field that is null or undefined is not given. */
export interface MergeInput {
  /** What is merged into. */
  dest: Files;
  /** The sides of a three-way merge. */
  original?: Files | null | undefined;
  updated?: Files | null | undefined;
  /** The source of a two-way merge, or the strategic merge patch. */
  source?: Files | null | undefined;
  /** A `Merge` or a ConfigMap, as YAML. It may leave out the mode. */
  functionConfig?: string | null | undefined;
  /** The mode, if the functionConfig does not name it. Without both: TwoWay if there is a source, else ThreeWay. */
  mode?: Mode | null | undefined;
  /** Whether an `updated` without resources deletes all that original holds. Otherwise it is an error, because it is mostly a mistake. */
  allowEmptyUpdated?: boolean | null | undefined;
}

export interface MergeOutput {
  /** Whether no result is an error. If one is, `files` is dest as it came. */
  passed: boolean;
  /** The files of dest after the merge. Where a conflict is open, they have dest's value, unless the functionConfig has an `onConflict`. */
  files: Record<string, string>;
  /** The files that change, in the order of their paths. */
  changes: Change[];
  /** What happened, the most severe first. The conflicts are not among them. */
  results: Result[];
  /** The conflicts of a three-way merge, also those that a rule decided. */
  conflicts: Conflict[];
}

export interface Change {
  kind: "added" | "changed" | "moved" | "removed";
  path: string;
  /** The path before, of a file that moved. */
  from?: string;
}

export interface ResourceRef { apiVersion: string; kind: string; namespace?: string; name: string }

export interface Result {
  severity: "error" | "warning" | "info";
  /** One line, without the place. */
  message: string;
  /** What kind of result it is, for programs. */
  reason?: string;
  resource?: ResourceRef;
  /** The text in which it is: `dest`, `updated/web.yaml`, `functionConfig`; with line and column from 1. */
  file?: string;
  line?: number;
  column?: number;
}

export interface Conflict {
  /** What the sides did, in a few words. */
  what: string;
  /** Who won, in words. */
  outcome: string;
  /** Whether nobody decided it: a rule decides it. */
  open: boolean;
  /** Who won, if it is one side as it is. */
  taken?: "dest" | "updated";
  resource?: ResourceRef;
  /** Where the field is in dest as it came. */
  file?: string;
  line?: number;
  column?: number;
  /** The field, elements by key: `spec.hosts[host=a].port`; empty for the resource as a whole. */
  path: string;
  /** The values as YAML; missing if the side has none, or if they are secret. */
  original?: string;
  updated?: string;
  dest?: string;
  secret: boolean;
  /** What a rule must name to decide it; missing if no rule can decide it alone. */
  case?: ConflictCase;
}

export interface ConflictCase {
  target: Record<string, string>;
  path?: string;
  /** The values that the sides must have, as JSON. */
  when: { original?: string; updated?: string; dest?: string };
}

export interface ExplainedType {
  apiVersion: string;
  kind: string;
  lists: ExplainedList[];
}

export interface ExplainedList {
  /** The fields from the root to the list, with dots; `*` is any field. */
  path: string;
  kind: "Atomic" | "Set" | "Map";
  /** The merge keys of a `Map`. */
  keys: string[];
  /** Who says so, in words. */
  source: string;
}

/** Numbers are lines from 0; the end of a part is the line after it. */
export interface Markers {
  conflicts: MarkedConflict[];
  /** The lines of markers that cannot be read as a conflict: one without an end, or with several lines between the sides. */
  faults: number[];
}

export interface MarkedConflict {
  /** The line of the first marker, and the line after the last one. */
  start: number;
  end: number;
  ours: [number, number];
  /** null if the markers lack it. */
  original: [number, number] | null;
  theirs: [number, number];
  ourName: string;
  theirName: string;
  /** Whether a side may have moved what the other side adds to, so that the markers do not tell where the addition belongs. */
  mayHaveMoved: boolean;
}

/** Merges texts. Nothing is thrown for what a user wrote: it is among the results. Throws a TypeError that names a field of another name or type. */
export function merge(input: MergeInput): MergeOutput;

/**
 * The functionConfig with a rule that decides this conflict, or a rule for each of several, in place of an earlier one for it. `take` says who
 * wins, or is asked about each conflict. Without it, the conflicts are open again. An empty functionConfig becomes a new one. Comments stay.
 * Throws if the text is not a functionConfig of a three-way merge, or a conflict has no case. To decide many conflicts, give them in one list:
 * each call reads and writes the whole text.
 */
export function decide<C extends DecidedConflict>(
  functionConfig: string,
  conflict: C | readonly C[],
  take?: Take | null | ((conflict: C) => Take | null | undefined),
): string;

/** What `decide` needs of a conflict. */
export type DecidedConflict = Pick<Conflict, "case">;

/** The KRM function: a ResourceList in, a ResourceList out. */
export function run(resourceList: string): { stdout: string; stderr: string[]; passed: boolean };

/** A unified diff. */
export function diff(before: string, after: string, path: string): string;

/**
 * How the lists of a type merge in a three-way merge. `type` is KIND, KIND.GROUP or KIND.VERSION.GROUP; `files` may have CustomResourceDefinitions.
 * Throws if the type is not known, or is in several groups.
 */
export function explain(type: string, files?: Files | null): ExplainedType;

/** The conflicts between markers in a text, as `resolve` reads them. */
export function markers(text: string): Markers;

/**
 * What a new `values.yaml` of a chart does to your values over the old one: a result for each value that hides a changed default, fits no more, or
 * can go. It sees no template, so it does not know which values a chart no longer reads.
 */
export function review(values: { original: string; updated: string; dest: string }): Result[];

export function version(): string;

/**
 * The module: its bytes, its address, an answer to a request for it, or a compiled module. The types are those of every environment: an address may
 * be a `URL`, an answer a `Response`, and a compiled module a `WebAssembly.Module`.
 */
export type Module = ArrayBuffer | ArrayBufferView | string | object | Promise<ArrayBuffer | ArrayBufferView | object>;

/** Loads the module. Call it once and wait for it, before all else. Without an argument, it comes from beside this file. */
export default function init(module?: Module): Promise<void>;
