// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the page may call. Written by hand beside the bindings; tests/web checks that the two agree.

/** Every function of the engine answers one of these; none throws on bad input. */
export type Answer<T> = { ok: true; value: T } | { ok: false; error: WeftFailure };
export interface WeftFailure {
  code: string; // 'parse', 'not_found', ... stable
  message: string;
  op: number; // index of the op at fault, -1 for none
  blob: string;
}

/** Ids are numbers; -1 means none. */
export type DocumentId = number;
export type NetId = number;
export type ScopeId = number; // 0: the whole net
export type OpId = number;
export type BlobId = number;
export type ValueId = number; // one version of one blob
export type JobId = number;

export type RoleName = 'forward' | 'backward' | 'update' | 'collective';
export type LayoutMode = 0 | 1 | 2; // auto, flow, mirror
export type Direction = 0 | 1 | 2 | 3; // up (producers), down (readers), left and right (previous and next op)

export interface DocumentInfo { id: DocumentId; name: string; format: string; bytes: number; nets: Uint32Array }
export interface NetInfo {
  id: NetId; document: DocumentId; name: string; type: string; numOps: number;
  parent: NetId; parentOp: OpId; parentArg: string; hasGradients: boolean;
}
export interface NetPair { init: NetId; net: NetId; matched: number; missing: number; chosen: boolean }

/** Absent fields have their defaults: mirror when there are gradients, expanded up to `budget` boxes. */
export interface ViewOptions {
  mode?: LayoutMode;
  expanded?: ScopeId[];
  expandAll?: boolean;
  budget?: number;
  bands?: number; // 1 forward, 2 backward, 4 update, 8 collective
  foldReplicas?: boolean;
  showNames?: boolean;
  showArguments?: boolean;
  showParams?: boolean;
  showReferences?: boolean;
  horizontal?: boolean;
  opened?: NetId[]; // nets inside operators that are drawn in their operator's box
}

/** One net of a scene, and how the scene numbers its ops and values. */
export interface SceneNet {
  net: NetId; around: number; op: OpId; firstOp: number; numOps: number; firstValue: number; numValues: number;
  taken: Uint32Array; // its own value, the value around: pairs
}

export interface ScopeInfo {
  id: ScopeId; parent: ScopeId; label: string; path: string; depth: number;
  numOps: number; numScopes: number; numDirect: number; synthetic: boolean; user: boolean; repeats: number; repeatOf: ScopeId;
}
export interface ScopeChildren { scopes: ScopeInfo[]; ops: Int32Array }

export interface Port {
  name: string; label: string; port: string; blob: BlobId; value: ValueId; version: number;
  external: boolean; param: boolean; inPlace: boolean;
  writer: OpId; readers: Int32Array; numReaders: number; overwrittenBy: OpId;
}
export interface ArgInfo {
  name: string; type: string; value: string; otherwise: string;
  given: boolean; declared: boolean; required: boolean; mismatch: boolean; nets: Uint32Array;
}
export interface GradientLine { when: string; text: string; sentence: boolean }
export interface OpDetails {
  op: OpId; type: string; name: string; engine: string; device: string; debugInfo: string; domain: string;
  opVersion: string; doc: string; known: boolean; nearest: string[]; role: RoleName; isGradientOp: boolean | null;
  gradient: GradientLine[]; gradientRule: string; // what each statement of the rule gives here; the rule
  inputs: Port[]; numInputs: number; outputs: Port[]; numOutputs: number; // the first 1,000 of each
  controlInputs: string[]; args: ArgInfo[]; unknownBytes: number;
  forward: OpId; servedBy: Int32Array; replicas: Int32Array; scopes: Uint32Array; findings: Uint32Array;
}
export interface BlobVersion {
  value: ValueId; version: number; writer: OpId; output: number; readers: Int32Array; numReaders: number; lastReader: OpId;
}
export interface BlobDetails {
  blob: BlobId; name: string; externalInput: boolean; externalOutput: boolean; param: boolean; gradient: string;
  versions: BlobVersion[];
}
/** `remedy` may be empty; `path` says which net: '' this one, '4.loop_net/0.then_net' one inside it. */
export interface Finding {
  severity: 'note' | 'warning' | 'error'; code: string; message: string; remedy: string; path: string; op: OpId; blob: string;
}
/** `spans` holds four numbers a piece: where it starts and ends in `text` (UTF-16), its TextClass, its value or -1. */
export interface ListingLine { op: OpId; // -1: a line about no operator
  text: string; spans: Int32Array }
export type TextClass =
  | 'plain' | 'heading' | 'label' | 'index' | 'type' | 'gradientType' | 'input' | 'output' | 'version' | 'argument'
  | 'number' | 'string' | 'device' | 'muted' | 'error' | 'warning' | 'note' | 'added' | 'removed' | 'changed'; // in this order, from 0
export interface SearchResult { ops: Int32Array; blobs: Uint32Array }
export interface StepResult { finished: boolean; done: number; total: number }

/** One session: everything that is open. Lives in a worker. */
export interface Session {
  // Long work: start gives a job; step it until it is finished, then take what it made. Drop it to cancel.
  startOpen(name: string, bytes: Uint8Array): Answer<JobId>; // makes a DocumentId
  startOpenFile(name: string, size: number, read: (offset: number, size: number) => Uint8Array): Answer<JobId>; // makes a DocumentId
  startScene(net: NetId, options: ViewOptions): Answer<JobId>; // makes a Uint32Array, see inspector/scene.h
  startSearch(net: NetId, query: string): Answer<JobId>; // makes a SearchResult
  step(job: JobId, units: number): Answer<StepResult>;
  /** What a search found so far; what a large file begins with, as a file of its own (empty at first). */
  peek(job: JobId): Answer<SearchResult | Uint32Array>;
  take(job: JobId): Answer<unknown>;
  drop(job: JobId): void;

  documents(): Answer<DocumentInfo[]>;
  nets(): Answer<NetInfo[]>;
  describeNet(net: NetId): Answer<NetInfo>;
  pairs(): Answer<NetPair[]>;
  chooseInit(net: NetId, init: NetId): Answer<undefined>; // -1: none fills it, -2: what fills it by content
  close(document: DocumentId): Answer<undefined>;

  netsOfScene(net: NetId, opened: ArrayLike<NetId>): Answer<SceneNet[]>; // outer before inner
  defaultExpanded(net: NetId, mode: LayoutMode, budget: number): Answer<Uint32Array>;
  describeScope(net: NetId, mode: LayoutMode, scope: ScopeId): Answer<ScopeInfo>;
  children(net: NetId, mode: LayoutMode, scope: ScopeId): Answer<ScopeChildren>;
  scopesOf(net: NetId, mode: LayoutMode, op: OpId): Answer<Uint32Array>;
  group(net: NetId, mode: LayoutMode, ops: ArrayLike<OpId>, label: string): Answer<ScopeId>;
  ungroup(net: NetId, mode: LayoutMode, group: ScopeId): Answer<undefined>;

  describeOp(net: NetId, op: OpId): Answer<OpDetails>;
  describeBlob(net: NetId, blob: BlobId): Answer<BlobDetails>;
  findBlob(net: NetId, name: string): Answer<BlobId>;
  blobOfValue(net: NetId, value: ValueId): Answer<BlobId>;
  neighbours(net: NetId, op: OpId, direction: Direction): Answer<Int32Array>;
  cone(net: NetId, op: OpId, direction: Direction, depth: number): Answer<Int32Array>;
  opLabels(net: NetId, ops: ArrayLike<OpId>): Answer<{ types: string[]; names: string[] }>;
  findings(net: NetId): Answer<Finding[]>;
  nestedNets(net: NetId, op: OpId): Answer<Uint32Array>;
  listing(net: NetId, first: number, count: number): Answer<ListingLine[]>;
  numLines(net: NetId): Answer<number>;
  opText(net: NetId, op: OpId): Answer<string>; // protobuf text
  lineOf(net: NetId, op: OpId): Answer<number>;

  delete(): void;
}

/** The module that weft.js makes. */
export interface WeftModule { Session: { new (): Session } }
export interface ModuleOptions { wasmBinary?: ArrayBuffer | Uint8Array; onAbort?: (what: unknown) => void }

/** The module that render.js makes: plain functions, see wasm/render_bindings.cc. Pointers are byte offsets. */
export interface RenderModule {
  HEAPU8: Uint8Array; HEAPU32: Uint32Array; HEAPF64: Float64Array;
  UTF8ToString(pointer: number): string;
  stringToUTF8(text: string, pointer: number, room: number): void;
  _malloc(bytes: number): number;
  _free(pointer: number): void;
  _weftStart(selector: number): number;
  _weftSize(width: number, height: number, ratio: number): void;
  _weftSceneRoom(words: number): number;
  _weftScene(words: number, count: number): number;
  _weftRehearse(): void;
  _weftTheme(colors: number): void;
  _weftMark(mark: number, ids: number, ops: number, scopes: number, values: number): void;
  _weftTint(words: number, count: number): void;
  _weftEdgePlaces(x: number, y: number, scale: number, w: number, h: number, partX: number, partY: number, partW: number, partH: number, most: number, line: number): number;
  _weftHeadingRoom(scale: number): number;
  _weftBand(x: number, y: number, w: number, h: number): void;
  _weftMinimap(shown: number): void;
  _weftPaint(x: number, y: number, scale: number): number;
  _weftDraw(finish: number): void;
  _weftPick(x: number, y: number): number;
  _weftRect(what: number, id: number): number;
  _weftMinimapToWorld(x: number, y: number): number;
  _weftCounts(): number;
  _weftOpsIn(x: number, y: number, w: number, h: number): number;
  _weftNearest(op: number, direction: number): number;
}
