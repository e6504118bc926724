// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft.html with nets inside, made by the page itself: on a host from the weft.html that lies beside it, in the single
// file from the document's own parts, which the policy's hashes know to the byte. Nothing else is asked for.

import { selfContained } from './assets.ts';

const NETS = /<!--nets-->[^]*?<!--\/nets-->/;
const escape = (text: string): string => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** `fragment`: how the net is shown when the file opens, as in an address; may be empty. */
export async function pageWith(files: { name: string; blob: Blob }[], fragment: string): Promise<Blob> {
  const page = selfContained() ? ownSource() : await besideSource();
  const blocks = await Promise.all(files.map(async ({ name, blob }) => `<script type="application/octet-stream" data-net="${escape(name)}">${await packed(blob)}</script>\n`));
  const view = fragment ? `<script type="application/json" id="view">${JSON.stringify(fragment).replaceAll('<', '\\u003c')}</script>\n` : '';
  const at = NETS.exec(page);
  if (!at) throw new Error('weft.html has no place for nets');
  return new Blob([page.slice(0, at.index), '<!--nets-->', ...blocks, view, '<!--/nets-->', page.slice(at.index + at[0].length)], { type: 'text/html' });
}

/** The fragment that such a file was made with. */
export function carriedView(): string {
  try {
    return String(JSON.parse(document.getElementById('view')?.textContent ?? '""'));
  } catch {
    return '';
  }
}

async function besideSource(): Promise<string> {
  const response = await fetch(new URL('weft.html', document.baseURI));
  if (!response.ok) throw new Error(`weft.html does not lie beside this page (${response.status}); it comes with every build`);
  return response.text();
}

function ownSource(): string {
  const head = document.head.outerHTML.replace(/<title>[^]*?<\/title>/, '<title>Weft</title>');
  const parts = [...document.querySelectorAll('body > script[id^="file:"]')].map((part) => part.outerHTML + '\n');
  const main = document.querySelector('body > script[type=module]');
  return `<!doctype html>\n<html lang="en">${head}<body>\n${parts.join('')}<!--nets--><!--/nets-->${main?.outerHTML ?? ''}\n</body></html>\n`;
}

/** Gzipped, in base64. */
async function packed(blob: Blob): Promise<string> {
  const zipped = await new Response(blob.stream().pipeThrough(new CompressionStream('gzip'))).blob();
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(zipped);
  });
}
