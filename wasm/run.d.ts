// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The `weft` command as a module (native/cli): its files are in memory, its standard streams too.

export interface RunFiles {
  mkdir(path: string): void;
  chdir(path: string): void;
  readdir(path: string): string[];
  isDir(mode: number): boolean;
  stat(path: string): { mode: number };
  chmod(path: string, mode: number): void;
  unlink(path: string): void;
  rmdir(path: string): void;
  writeFile(path: string, bytes: Uint8Array): void;
  readFile(path: string): Uint8Array;
  open(path: string, flags: string): unknown;
  closeStream(descriptor: number): void;
}

/** The module that run.js makes. `callMain` answers the exit code. */
export interface RunModule { FS: RunFiles; callMain(words: string[]): number }
export interface RunOptions {
  instantiateWasm(imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => void): object;
  onAbort(what: unknown): void;
}
