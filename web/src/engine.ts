// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The engine as the page sees it: questions that resolve to values, long work with progress and cancel. Failures are
// thrown as WeftError.

import type { SearchResult, StepResult, WeftFailure } from '../../wasm/weft.d.ts';
import type { Incoming } from './files.ts';
import type { FromWorker, Questions, ToWorker, ValueOf, Work } from './protocol.ts';

export class WeftError extends Error {
  readonly failure: WeftFailure;
  constructor(failure: WeftFailure) {
    super(failure.message);
    this.failure = failure;
  }
  get cancelled(): boolean {
    return this.failure.code === 'cancelled';
  }
}

export interface Task<T> {
  result: Promise<T>;
  cancel(): void;
}

/** For long work on the page's thread: lets others in when it has worked for 12 ms; `stop` ends it. */
export function pauses(stop: { stopped: boolean }): () => Promise<void> {
  let until = performance.now() + 12;
  return async () => {
    if (performance.now() < until) return;
    await new Promise((go) => setTimeout(go));
    if (stop.stopped) throw cancelledError();
    until = performance.now() + 12;
  };
}
export const cancelledError = (): WeftError => new WeftError({ code: 'cancelled', message: 'cancelled', op: -1, blob: '' });

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
  progress?: ((progress: StepResult, found?: SearchResult) => void) | undefined;
  sketch?: ((scene: Uint32Array) => void) | undefined;
}

export class Engine {
  /** Milliseconds that the worker spent on the last work of each kind. */
  readonly spent: Record<string, number> = {};
  private readonly worker: Worker;
  private readonly waiting = new Map<number, Waiting>();
  private readonly kinds = new Map<number, string>();
  private next = 1;
  private ready: Promise<void>;
  private resolveReady: () => void = () => {};
  private readonly onCrash: (message: string) => void;

  constructor(worker: Worker, wasm: Promise<ArrayBuffer>, onCrash: (message: string) => void) {
    this.worker = worker;
    this.onCrash = onCrash;
    this.ready = new Promise((resolve) => (this.resolveReady = resolve));
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.receive(data);
    worker.onerror = (event) => this.fail(event.message || 'the engine did not start');
    wasm.then((bytes) => this.send({ type: 'start', wasm: bytes }, [bytes])).catch((error) => this.fail(String(error)));
  }

  /** Has the engine read and lay out a small net that nobody sees: its code is compiled when the first real one comes. */
  async warm(net: Uint8Array): Promise<void> {
    await this.ready;
    if (this.waiting.size === 0) this.send({ type: 'warm', net }, [net.buffer as ArrayBuffer]);
  }

  /** Asks the session one question. */
  async ask<K extends keyof Questions>(name: K, ...args: Parameters<Questions[K]>): Promise<ValueOf<ReturnType<Questions[K]>>> {
    await this.ready;
    return (await this.wait((id) => this.send({ type: 'ask', id, name, args })).result) as ValueOf<ReturnType<Questions[K]>>;
  }

  /** Bytes that are given go to the engine and are gone here. Of a large net `sketch` is given a
   *  scene in outline, while it is decoded. */
  open(file: Incoming, progress?: (p: StepResult) => void, sketch?: (scene: Uint32Array) => void): Task<number> {
    return this.work({ kind: 'open', sketch: !!sketch, ...file }, file.bytes ? [file.bytes.buffer as ArrayBuffer] : [], progress, sketch);
  }
  scene(net: number, options: (Work & { kind: 'scene' })['options'], progress?: (p: StepResult) => void): Task<Uint32Array> {
    return this.work({ kind: 'scene', net, options }, [], progress);
  }
  search(net: number, query: string, progress?: (p: StepResult, found?: SearchResult) => void): Task<SearchResult> {
    return this.work({ kind: 'search', net, query }, [], progress);
  }

  private work<T>(work: Work, transfer: Transferable[], progress?: Waiting['progress'], sketch?: Waiting['sketch']): Task<T> {
    let cancelled = false;
    let id = 0;
    const result = this.ready.then(() => {
      if (cancelled) throw cancelledError();
      const task = this.wait((own) => {
        id = own;
        this.kinds.set(own, work.kind);
        this.send({ type: 'work', id: own, work }, transfer);
      }, progress, sketch);
      return task.result as Promise<T>;
    });
    return {
      result,
      cancel: () => {
        cancelled = true;
        const waiting = this.waiting.get(id);
        if (!waiting) return;
        // Whoever waits is told at once; the worker drops the work when its step ends.
        this.waiting.delete(id);
        this.kinds.delete(id);
        this.send({ type: 'cancel', id });
        waiting.reject(cancelledError());
      },
    };
  }

  private wait(send: (id: number) => void, progress?: Waiting['progress'], sketch?: Waiting['sketch']): { result: Promise<unknown> } {
    const id = this.next++;
    const result = new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject, progress, sketch }));
    send(id);
    return { result };
  }
  private send(message: ToWorker, transfer: Transferable[] = []): void {
    this.worker.postMessage(message, transfer);
  }
  private receive(message: FromWorker): void {
    if (message.type === 'ready') return this.resolveReady();
    if (message.type === 'crash') return this.fail(message.message);
    const waiting = this.waiting.get(message.id);
    if (!waiting) return;
    if (message.type === 'progress') {
      waiting.progress?.(message.progress, message.found);
      return;
    }
    if (message.type === 'sketch') {
      waiting.sketch?.(message.scene);
      return;
    }
    this.waiting.delete(message.id);
    const kind = this.kinds.get(message.id);
    this.kinds.delete(message.id);
    if (message.type === 'answer') {
      if (kind) this.spent[kind] = message.ms;
      waiting.resolve(message.value);
    } else waiting.reject(new WeftError(message.error));
  }
  private fail(message: string): void {
    for (const waiting of this.waiting.values()) waiting.reject(new Error(message));
    this.waiting.clear();
    this.onCrash(message);
  }
}
