// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How bytes come in: the dialog, a drop of files or folders, and, on a hosted page, the address after #url=. And out:
// files to save.

/** Bytes that are at hand, or a file that the engine reads as it needs it. */
export interface Incoming {
  name: string;
  bytes?: Uint8Array;
  file?: File;
}

// Held by the page: a browser may collect an input that nobody holds, and its dialog's answer with it.
const picker = document.createElement('input');
picker.type = 'file';
picker.multiple = true;

export function chooseFiles(then: (files: File[]) => void): void {
  picker.value = ''; // the same file may come again
  picker.onchange = () => then([...(picker.files ?? [])]);
  picker.click();
}

/** Lets files be dropped anywhere on the page. */
export function acceptDrops(then: (files: File[]) => void): void {
  let inside = 0;
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
  const mark = () => document.body.classList.toggle('dragging', inside > 0);
  addEventListener('dragenter', (event) => {
    if (hasFiles(event)) ++inside;
    mark();
  });
  addEventListener('dragleave', (event) => {
    if (hasFiles(event)) inside = Math.max(0, inside - 1);
    mark();
  });
  addEventListener('dragover', (event) => event.preventDefault());
  addEventListener('drop', (event) => {
    event.preventDefault();
    inside = 0;
    mark();
    const entries = [...(event.dataTransfer?.items ?? [])].map((item) => item.webkitGetAsEntry?.() ?? null);
    const plain = [...(event.dataTransfer?.files ?? [])];
    if (entries.some((entry) => entry?.isDirectory)) void walk(entries).then(then);
    else if (plain.length > 0) then(plain);
  });
}

async function walk(entries: (FileSystemEntry | null)[]): Promise<File[]> {
  const out: File[] = [];
  const queue = [...entries];
  for (let entry = queue.pop(); entry !== undefined; entry = queue.pop()) {
    if (!entry) continue;
    if (entry.isFile) out.push(await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)));
    else {
      const reader = (entry as FileSystemDirectoryEntry).createReader();
      for (;;) {
        const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
        if (some.length === 0) break;
        queue.push(...some);
      }
    }
  }
  return out.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The address in #url=..., if there is one. */
export function urlInFragment(): string | null {
  const match = /(?:^#|&)url=([^&]+)/.exec(location.hash);
  return match?.[1] ? decodeURIComponent(match[1]) : null;
}

export async function fetchFile(url: string): Promise<Incoming> {
  const response = await fetch(url, { credentials: 'omit' });
  if (!response.ok) throw new Error(`the server answered ${response.status} ${response.statusText}`);
  const name = decodeURIComponent(new URL(url, location.href).pathname.split('/').pop() || 'net');
  return { name, bytes: new Uint8Array(await response.arrayBuffer()) };
}

/** Hands a file to the person: the browser saves it. */
export function saveFile(name: string, blob: Blob): void {
  const link = document.createElement('a');
  link.download = name;
  link.href = URL.createObjectURL(blob);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
