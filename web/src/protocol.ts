// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The messages between the page and the engine's worker.

import type { Session, WeftFailure, StepResult, SearchResult, NetId, ViewOptions } from '../../wasm/weft.d.ts';
import type { Incoming } from './files.ts';

type Answers = Pick<Session, {
  [K in keyof Session]: Session[K] extends (...args: never[]) => { ok: true; value: unknown } | { ok: false; error: WeftFailure } ? K : never;
}[keyof Session]>;
/** The questions that a session answers at once. */
export type Questions = Omit<Answers, 'startOpen' | 'startOpenFile' | 'startScene' | 'startSearch' | 'step' | 'peek' | 'take'>;
export type ValueOf<T> = T extends { ok: true; value: infer V } ? V : never;

/** Long work, by what starts it. */
export type Work =
  | ({ kind: 'open'; sketch: boolean } & Incoming) // sketch: to be shown while the net is decoded
  | { kind: 'scene'; net: NetId; options: ViewOptions }
  | { kind: 'search'; net: NetId; query: string };

export type ToWorker =
  | { type: 'start'; wasm: ArrayBuffer }
  | { type: 'warm'; net: Uint8Array }
  | { type: 'ask'; id: number; name: keyof Questions; args: unknown[] }
  | { type: 'work'; id: number; work: Work }
  | { type: 'cancel'; id: number };

export type FromWorker =
  | { type: 'ready' }
  | { type: 'answer'; id: number; value: unknown; ms: number }
  | { type: 'failure'; id: number; error: WeftFailure }
  | { type: 'progress'; id: number; progress: StepResult; found?: SearchResult }
  | { type: 'sketch'; id: number; scene: Uint32Array }
  | { type: 'crash'; message: string };
