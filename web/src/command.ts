// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The `weft` command in the page: the same program as in a terminal, over files in memory. It is loaded when it is first
// asked for, runs in a worker of its own, one command line after another, and a cancelled one ends with its worker.

import { WeftError, type Task } from './engine.ts';

export interface File { name: string; blob: Blob }
export interface Made { name: string; bytes: Uint8Array }
export interface Ran { code: number; out: string; err: string; files: Made[]; ms: number }

export type ToRun =
  | { type: 'start'; wasm: WebAssembly.Module }
  | { type: 'run'; id: number; words: string[]; files: File[]; forget: string[] };
export type FromRun = ({ type: 'ran'; id: number } & Ran) | { type: 'crash'; message: string };

interface Line {
  id: number;
  words: string[];
  files: File[];
  resolve(ran: Ran): void;
  reject(error: Error): void;
}

const failure = (code: string, message: string): WeftError => new WeftError({ code, message, op: -1, blob: '' });

export class Command {
  private readonly makeWorker: () => Promise<Worker>;
  private readonly loadWasm: () => Promise<ArrayBuffer>;
  private wasm: Promise<WebAssembly.Module> | null = null;
  private worker: Promise<Worker> | null = null;
  private readonly lines: Line[] = []; // the first one runs
  private held = new Map<string, Blob>(); // what the worker has
  private next = 1;

  constructor(makeWorker: () => Promise<Worker>, loadWasm: () => Promise<ArrayBuffer>) {
    this.makeWorker = makeWorker;
    this.loadWasm = loadWasm;
  }

  /** Runs `weft WORDS...`; `files` are those that the words name. Any exit code is an answer. */
  run(words: string[], files: File[]): Task<Ran> {
    const id = this.next++;
    const result = new Promise<Ran>((resolve, reject) => {
      this.lines.push({ id, words, files, resolve, reject });
      if (this.lines.length === 1) void this.begin();
    });
    return { result, cancel: () => this.cancel(id) };
  }

  /** The same for a command with --json: its object. What it refuses is thrown as WeftError. */
  json<T>(words: string[], files: File[]): Task<{ value: T; files: Made[] }> {
    const task = this.run([...words, '--json'], files);
    return { cancel: task.cancel, result: task.result.then((ran) => ({ value: parse<T>(ran), files: ran.files })) };
  }

  private async begin(): Promise<void> {
    const line = this.lines[0];
    if (!line) return;
    try {
      this.wasm ??= this.loadWasm().then((bytes) => WebAssembly.compile(bytes));
      this.worker ??= this.start(await this.wasm);
      const worker = await this.worker;
      if (this.lines[0] !== line) return; // cancelled meanwhile
      const files = line.files.filter(({ name, blob }) => this.held.get(name) !== blob);
      const wanted = new Set(line.files.map(({ name }) => name));
      const forget = [...this.held.keys()].filter((name) => !wanted.has(name));
      this.held = new Map(line.files.map(({ name, blob }) => [name, blob]));
      worker.postMessage({ type: 'run', id: line.id, words: line.words, files, forget } satisfies ToRun);
    } catch (error) {
      this.wasm = null;
      this.stop(error as Error);
    }
  }
  private async start(wasm: WebAssembly.Module): Promise<Worker> {
    const worker = await this.makeWorker();
    worker.onmessage = ({ data }: MessageEvent<FromRun>) => {
      if (data.type === 'crash') return this.stop(failure('internal', `the command stopped: ${data.message}`));
      if (this.lines[0]?.id !== data.id) return;
      this.lines.shift()?.resolve(data);
      void this.begin();
    };
    worker.onerror = (event) => this.stop(failure('internal', event.message || 'the command did not start'));
    worker.postMessage({ type: 'start', wasm } satisfies ToRun);
    return worker;
  }
  /** Ends what runs; the next line gets a new worker. */
  private stop(error: Error): void {
    void this.worker?.then((worker) => worker.terminate());
    this.worker = null;
    this.held = new Map();
    this.lines.shift()?.reject(error);
    void this.begin();
  }
  private cancel(id: number): void {
    const at = this.lines.findIndex((line) => line.id === id);
    if (at === 0) this.stop(failure('cancelled', 'cancelled'));
    else if (at > 0) this.lines.splice(at, 1)[0]?.reject(failure('cancelled', 'cancelled'));
  }
}

function parse<T>(ran: Ran): T {
  let value: { error?: { code: string; message: string; op: number | null; blob: string | null } };
  try {
    value = JSON.parse(ran.out);
  } catch {
    throw failure('internal', ran.err.trim() || `the command ended with ${ran.code}`);
  }
  if (value.error) throw new WeftError({ ...value.error, op: value.error.op ?? -1, blob: value.error.blob ?? '' });
  return value as T;
}

/** The words as one would type them in a shell. */
export const shellLine = (words: string[]): string =>
  ['weft', ...words].map((word) => (/^[\w@%+=:,./#*?-]+$/.test(word) && !/[*?#]/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
