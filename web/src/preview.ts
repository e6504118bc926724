// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The line over a net that a command made: what it is, and what to do with it.

import type { App } from './app.ts';
import { h } from './dom.ts';
import { saveFile } from './files.ts';

export function previewBar(app: App): HTMLElement {
  const element = h('div.previewbar.hidden', { role: 'group', 'aria-label': 'Preview' });
  const update = () => {
    const { preview, view, nets } = app.state;
    element.classList.toggle('hidden', !preview);
    if (!preview) return;
    const before = view?.net.id === preview.base;
    const other = before ? nets.find((net) => net.document === preview.document && net.parent < 0)?.id : preview.base;
    const text = preview.name.replace(/\.pb$/, '') + '.pbtxt';
    element.replaceChildren(
      h('span.what', { title: preview.what }, h('b', before ? 'Before' : 'Preview'), ' ', preview.what),
      h('button.quiet', { onclick: () => other !== undefined && void app.show(other) }, before ? 'Show after' : 'Show before'),
      h('button.quiet', { onclick: () => saveFile(preview.name, preview.blob) }, 'Save .pb'),
      h('button.quiet', { onclick: () => void app.workshop.command.run(['convert', preview.name, text], [{ name: preview.name, blob: preview.blob }]).result.then(({ files }) => {
        for (const { name, bytes } of files) saveFile(name, new Blob([bytes as Uint8Array<ArrayBuffer>]));
      }) }, 'Save .pbtxt'),
      h('button.quiet', { onclick: () => void app.workshop.endPreview(true) }, 'Keep open'),
      h('button.quiet', { onclick: () => void app.workshop.endPreview(false) }, 'Discard'));
  };
  app.on(['preview', 'net'], update);
  return element;
}
