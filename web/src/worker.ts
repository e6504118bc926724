// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The engine's worker. It answers questions as they come and steps long work in slices of a few milliseconds between
// messages, so that a question or a cancel never waits long and no memory is shared.

import createWeft from '@wasm/weft.js';
import type { Answer, JobId, SearchResult, Session, StepResult } from '../../wasm/weft.d.ts';
import type { FromWorker, ToWorker, Work } from './protocol.ts';

declare class FileReaderSync { // of workers only, so not among the page's types
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}

const SLICE_MS = 12; // how long work goes on before messages are looked at
const PROGRESS_MS = 80;
const WARM_ROUNDS = 6, WARM_MS = 3000; // how often and how long the engine practises before the first net
const WHOLE_BYTES = 4 << 20; // files up to this size are read at once; of others the weights stay in them, and a sketch shows first

interface Running {
  id: number;
  job: JobId;
  kind: Work['kind'];
  units: number;
  ms: number;
  told: number;
  sketch: boolean; // still to be shown
}

let session: Session | null = null;
let makeSession: (() => Session) | null = null;
const running: Running[] = [];
let scheduled = false;
const tick = new MessageChannel();
tick.port1.onmessage = () => {
  scheduled = false;
  slice();
};

function post(message: FromWorker, transfer: Transferable[] = []): void {
  (self as unknown as { postMessage(m: FromWorker, t: Transferable[]): void }).postMessage(message, transfer);
}

function crash(error: unknown): void {
  post({ type: 'crash', message: error instanceof Error ? error.message : String(error) });
}

self.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
  try {
    if (data.type === 'start') {
      const module = await createWeft({ wasmBinary: data.wasm, onAbort: crash });
      makeSession = () => new module.Session();
      session = makeSession();
      post({ type: 'ready' });
      return;
    }
    if (!session) return;
    if (data.type === 'warm') {
      warmUp(data.net);
    } else if (data.type === 'ask') {
      const started = performance.now();
      const method = session[data.name] as (...args: unknown[]) => Answer<unknown>;
      const answer = method.apply(session, data.args);
      if (answer.ok) post({ type: 'answer', id: data.id, value: answer.value, ms: performance.now() - started });
      else post({ type: 'failure', id: data.id, error: answer.error });
    } else if (data.type === 'work') {
      begin(session, data.id, data.work);
    } else {
      const at = running.findIndex((r) => r.id === data.id);
      const [dropped] = at >= 0 ? running.splice(at, 1) : [];
      if (dropped) session.drop(dropped.job);
    }
  } catch (error) {
    crash(error);
  }
};

function open(session: Session, name: string, bytes?: Uint8Array, file?: File): Answer<JobId> {
  if (!file) return session.startOpen(name, bytes ?? new Uint8Array());
  const reader = new FileReaderSync();
  const read = (from: number, size: number) => new Uint8Array(reader.readAsArrayBuffer(file.slice(from, from + size)));
  if (file.size > WHOLE_BYTES) {
    return session.startOpenFile(name, file.size, (from, size) => {
      try {
        return read(from, size);
      } catch {
        return new Uint8Array(); // the file is gone, or has changed
      }
    });
  }
  try {
    return session.startOpen(name, read(0, file.size));
  } catch (error) {
    return { ok: false, error: { code: 'io', message: `the browser could not read it: ${error instanceof Error ? error.message : error}`, op: -1, blob: '' } };
  }
}

/** Does a small job at once. */
function finish(session: Session, job: Answer<JobId>): Answer<unknown> {
  if (!job.ok) return job;
  for (let finished = false; !finished; ) {
    const step = session.step(job.value, 4096);
    finished = !step.ok || step.value.finished;
  }
  return session.take(job.value);
}

/** False: there is no sketch yet. */
function showSketch(session: Session, work: Running): boolean {
  const answer = session.peek(work.job);
  if (!answer.ok) return true;
  const scene = answer.value as Uint32Array;
  if (scene.length > 0) post({ type: 'sketch', id: work.id, scene }, [scene.buffer as ArrayBuffer]);
  return scene.length > 0;
}

/** Goes through what opening a net goes through, a piece at a time, some times over, until somebody asks for something. */
function warmUp(net: Uint8Array): void {
  const started = performance.now();
  const rehearse = function* (): Generator<void, void> {
    for (let round = 0; round < WARM_ROUNDS && performance.now() - started < WARM_MS; ++round) {
      const session = makeSession?.();
      if (!session) return;
      try {
        finish(session, session.startOpen('', net));
        yield;
        finish(session, session.startScene(0, {}));
        yield;
        finish(session, session.startScene(0, { mode: 1, expandAll: true }));
        yield;
        void [session.pairs(), session.nets(), session.defaultExpanded(0, 2, 100), session.numLines(0), session.listing(0, 0, 40), session.findings(0),
          session.children(0, 2, 0), session.describeOp(0, 0), session.describeBlob(0, 0), session.opLabels(0, [0, 1])];
      } finally {
        session.delete();
      }
      yield;
    }
  };
  const pieces = rehearse();
  const next = (): void => {
    if (running.length > 0) pieces.return(undefined);
    else if (!pieces.next().done) setTimeout(next);
  };
  next();
}

function begin(session: Session, id: number, work: Work): void {
  const started = performance.now();
  const answer =
    work.kind === 'open' ? open(session, work.name, work.bytes, work.file)
    : work.kind === 'scene' ? session.startScene(work.net, work.options)
    : session.startSearch(work.net, work.query);
  if (!answer.ok) {
    post({ type: 'failure', id, error: answer.error });
    return;
  }
  const units = work.kind === 'open' ? 1 << 18 : 4096;
  running.push({ id, job: answer.value, kind: work.kind, units, ms: performance.now() - started, told: started,
    sketch: work.kind === 'open' && work.sketch && (work.file?.size ?? 0) > WHOLE_BYTES });
  schedule();
}

function schedule(): void {
  if (scheduled || running.length === 0) return;
  scheduled = true;
  tick.port2.postMessage(0);
}

/** Steps the newest work: what was asked for last is what somebody waits for. */
function slice(): void {
  const work = running.at(-1);
  if (!session || !work) return;
  try {
    const end = performance.now() + SLICE_MS;
    let step: StepResult = { finished: false, done: 0, total: 0 };
    for (let now = performance.now(); now < end && !step.finished; ) {
      const answer = session.step(work.job, work.units);
      if (!answer.ok) throw new Error(answer.error.message);
      step = answer.value;
      if (work.sketch && !step.finished) work.sketch = !showSketch(session, work);
      const after = performance.now();
      // Steps of about a third of a slice: the units' cost is not known beforehand and changes on the way.
      const took = after - now;
      work.ms += took;
      if (took < SLICE_MS / 6) work.units = Math.min(work.units * 2, 2 ** 31);
      else if (took > SLICE_MS / 2) work.units = Math.max(Math.floor(work.units / 2), 64);
      now = after;
    }
    if (step.finished) {
      running.splice(running.indexOf(work), 1);
      const started = performance.now();
      const answer = session.take(work.job);
      work.ms += performance.now() - started;
      if (!answer.ok) post({ type: 'failure', id: work.id, error: answer.error });
      else {
        const transfer = ArrayBuffer.isView(answer.value) ? [answer.value.buffer as ArrayBuffer] : [];
        post({ type: 'answer', id: work.id, value: answer.value, ms: work.ms }, transfer);
      }
    } else if (performance.now() - work.told > PROGRESS_MS) {
      work.told = performance.now();
      const found = work.kind === 'search' ? session.peek(work.job) : null;
      post({ type: 'progress', id: work.id, progress: step, ...(found?.ok ? { found: found.value as SearchResult } : {}) });
    }
  } catch (error) {
    crash(error);
    return;
  }
  schedule();
}
