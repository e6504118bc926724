// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The worker of the `weft` command: keeps the files that it was given in a folder, runs one command line after another
// there, and answers what a command wrote. Whoever wants it stopped ends the worker.

import createRun from '@wasm/run.js';
import type { RunModule } from '../../wasm/run.d.ts';
import type { FromRun, ToRun } from './command.ts';

const FOLDER = '/files', STREAMS = ['/stdin', '/stdout', '/stderr'] as const;
const known = new Map<string, number>(); // the given files: name and size
let module: Promise<RunModule> | null = null;

function post(message: FromRun, transfer: Transferable[] = []): void {
  (self as unknown as { postMessage(m: FromRun, t: Transferable[]): void }).postMessage(message, transfer);
}

async function start(wasm: WebAssembly.Module): Promise<RunModule> {
  const made = await createRun({
    instantiateWasm: (imports, done) => {
      void WebAssembly.instantiate(wasm, imports).then(done);
      return {};
    },
    onAbort: (what) => post({ type: 'crash', message: String(what) }),
  });
  made.FS.mkdir(FOLDER);
  made.FS.chdir(FOLDER);
  return made;
}

/** Descriptors 0 to 2 become files. */
function redirect({ FS }: RunModule): void {
  STREAMS.forEach((_, descriptor) => FS.closeStream(descriptor));
  FS.writeFile(STREAMS[0], new Uint8Array());
  STREAMS.forEach((path, descriptor) => FS.open(path, descriptor === 0 ? 'r' : 'w'));
}

/** Files that the command made: removed here, told to the page. Paths are relative to the folder. */
function takeMade({ FS }: RunModule): { name: string; bytes: Uint8Array }[] {
  const made: { name: string; bytes: Uint8Array }[] = [];
  const folders = [''];
  for (let i = 0; i < folders.length; ++i) {
    for (const entry of FS.readdir(`${FOLDER}/${folders[i]}`)) {
      if (entry === '.' || entry === '..') continue;
      const name = folders[i] + entry, path = `${FOLDER}/${name}`;
      if (FS.isDir(FS.stat(path).mode)) folders.push(name + '/');
      else if (!known.has(name)) {
        FS.chmod(path, 0o600); // Emscripten's mask forbids everything
        made.push({ name, bytes: FS.readFile(path) });
        FS.unlink(path);
      }
    }
  }
  for (const folder of folders.slice(1).reverse()) FS.rmdir(`${FOLDER}/${folder}`);
  return made;
}

self.onmessage = async ({ data }: MessageEvent<ToRun>) => {
  try {
    if (data.type === 'start') {
      module = start(data.wasm);
      return;
    }
    const run = await module;
    if (!run) return;
    for (const name of data.forget) {
      known.delete(name);
      run.FS.unlink(`${FOLDER}/${name}`);
    }
    for (const { name, blob } of data.files) {
      run.FS.writeFile(`${FOLDER}/${name}`, new Uint8Array(await blob.arrayBuffer()));
      known.set(name, blob.size);
    }
    const started = performance.now();
    redirect(run);
    const code = run.callMain(data.words);
    const decoder = new TextDecoder();
    const [out, err] = [1, 2].map((descriptor) => decoder.decode(run.FS.readFile(STREAMS[descriptor] ?? ''))) as [string, string];
    const files = takeMade(run);
    post({ type: 'ran', id: data.id, code, out, err, files, ms: performance.now() - started }, files.map((file) => file.bytes.buffer as ArrayBuffer));
  } catch (error) {
    post({ type: 'crash', message: error instanceof Error ? error.message : String(error) });
  }
};
