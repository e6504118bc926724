// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the page knows at a moment: which net shows and how, what is selected, what was found. View state only; the nets
// themselves live in the engine. Panels are functions from this to DOM.

import type {
  BlobDetails, DocumentInfo, Finding, LayoutMode, NetInfo, NetPair, OpDetails, SceneNet, ScopeInfo, ViewOptions,
} from '../../wasm/weft.d.ts';
import type { Stand } from './view.ts';

export interface Problem {
  title: string;
  text: string;
}

export interface Timing {
  opened: number; // performance.now() when bytes were at hand
  engineOpen: number; // milliseconds in the worker
  engineScene: number;
  firstFrame: number; // performance.now() when the first frame of the scene had been drawn
}

/** Operators and values are numbered as in the scene, see in_place.ts. */
export type Selection =
  | { what: 'op'; op: number; details: OpDetails | null }
  | { what: 'ops'; ops: Int32Array } // several, rising
  | { what: 'scope'; scope: number; info: ScopeInfo | null }
  | { what: 'blob'; blob: number; value: number; details: BlobDetails | null };

/** How one net is looked at; kept per net, so that coming back finds it as it was. */
export interface NetView {
  net: NetInfo;
  options: ViewOptions;
  /** The layout that shows: 1 flow, 2 mirror. */
  mode: LayoutMode;
  expanded: Set<number>;
  /** What the scene shows: the net itself, and those in the boxes of operators. Empty when there are none of these. */
  inside: SceneNet[];
  /** Changes when scopes are made or dissolved by hand. */
  groups: number;
  camera: Stand | null;
  lines: number;
  findings: Finding[];
}

/** A net of the scene: its path as commands have it, "3.loop_net/1.then_net", and where its numbers begin. */
export interface Drawn { path: string; net: number; firstOp: number; numOps: number; firstValue: number }

export interface Found {
  query: string;
  ops: Int32Array;
  blobs: Uint32Array;
  /** In the nets inside and around: as many as were searched. */
  elsewhere: { net: number; place: string; ops: Int32Array }[];
  at: number; // index into ops, -1 before the first step
  running: boolean;
  error: string;
}

/** A net that a command made of another, shown before it is accepted. */
export interface Preview {
  base: number; // the net that it was made of
  document: number;
  what: string; // "Backward pass of mlp"
  name: string; // of its file
  blob: Blob; // as the command wrote it
  words: string[]; // the command
  saved?: boolean;
}

export interface State {
  documents: DocumentInfo[];
  nets: NetInfo[];
  pairs: NetPair[];
  view: NetView | null;
  /** What shows is a sketch of a net that is still being read. */
  sketched: boolean;
  selection: Selection | null;
  found: Found | null;
  working: { what: string; done: number; cancel: () => void } | null;
  preview: Preview | null;
  faults: number[]; // operators that stand in the way of something
  planned: Map<number, string>; // by net: why it has no backward pass, empty where it has one, where somebody asked
}

export const emptyState = (): State => ({
  documents: [], nets: [], pairs: [], view: null, sketched: false, selection: null, found: null, working: null, preview: null, faults: [], planned: new Map(),
});

export const netTitle = (net: NetInfo, documents: DocumentInfo[]): string =>
  net.name || documents.find((d) => d.id === net.document)?.name || 'unnamed net';

export function initOf(state: State, net: number): NetPair | undefined {
  return state.pairs.find((pair) => pair.net === net);
}
