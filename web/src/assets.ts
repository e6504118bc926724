// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The page's own files. On a host they lie beside the page; in the single file they are data blocks of the document,
// gzipped and in base64, and nothing is ever requested.

const block = (name: string): string | null => document.getElementById('file:' + name)?.textContent?.trim() ?? null;

/** True in the single file, which has everything inside. */
export const selfContained = (): boolean => document.querySelector('[id^="file:"]') !== null;

export async function unpack(base64: string): Promise<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

export async function loadBytes(name: string): Promise<ArrayBuffer> {
  const inside = block(name);
  if (inside !== null) return unpack(inside);
  const response = await fetch(new URL(name, document.baseURI));
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  return response.arrayBuffer();
}

export async function makeWorker(name: string): Promise<Worker> {
  const inside = block(name);
  if (inside === null) return new Worker(new URL(name, document.baseURI));
  const url = URL.createObjectURL(new Blob([await unpack(inside)], { type: 'text/javascript' }));
  return new Worker(url);
}

/** True when nets were put into the single file. */
export const carriesNets = (): boolean => document.querySelector('script[data-net]') !== null;

/** Nets that were put into the single file: name and bytes. */
export async function embeddedNets(): Promise<{ name: string; bytes: Uint8Array }[]> {
  const nets = [];
  for (const element of document.querySelectorAll<HTMLScriptElement>('script[data-net]')) {
    nets.push({ name: element.dataset.net ?? 'net.pb', bytes: new Uint8Array(await unpack((element.textContent ?? '').trim())) });
  }
  return nets;
}
