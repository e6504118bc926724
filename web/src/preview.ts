// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The line over a net that a command made: what it is, and what to do with it. It stays until the net is saved.

import type { App } from './app.ts';
import { h } from './dom.ts';
import { saveFile } from './files.ts';
import type { Preview } from './state.ts';

export function previewBar(app: App): HTMLElement {
  const { workshop } = app;
  const element = h('div.previewbar.hidden', { role: 'group', 'aria-label': 'Preview' });
  const save = ({ document, name, blob }: Preview): HTMLElement[] => {
    const [, stem = name, own = 'pb'] = /^(.*)\.(pb|pbtxt)$/.exec(name) ?? [], other = own === 'pb' ? 'pbtxt' : 'pb';
    return [
      h('button.quiet.save', { title: 'Ctrl+S', onclick: () => {
        saveFile(name, blob);
        workshop.saved(document);
      } }, `Save .${own}`),
      h('button.quiet', { onclick: () => void workshop.command.run(['convert', name, `${stem}.${other}`], [{ name, blob }]).result.then(({ files }) => {
        for (const made of files) saveFile(made.name, new Blob([made.bytes as Uint8Array<ArrayBuffer>]));
        workshop.saved(document);
      }) }, `Save .${other}`),
    ];
  };
  const update = () => {
    const { view, nets } = app.state, shown = app.path()[0];
    // It is about the net that shows, or it waits.
    const preview = app.state.preview && shown && (shown.document === app.state.preview.document || shown.id === app.state.preview.base) ? app.state.preview : null;
    const kept = preview ? undefined : workshop.unsaved.get(shown?.document ?? -1);
    element.classList.toggle('hidden', !preview && !kept);
    if (kept) {
      element.replaceChildren(h('span.what', { title: kept.what }, h('b', 'Not saved'), ' ', kept.what), ...save(kept),
        h('button.quiet', { onclick: () => void app.close(kept.document) }, 'Discard'));
    }
    if (!preview) return;
    const before = view?.net.id === preview.base;
    const other = before ? nets.find((net) => net.document === preview.document && net.parent < 0)?.id : preview.base;
    element.replaceChildren(
      h('span.what', { title: preview.what }, h('b', before ? 'Before' : preview.saved ? 'Saved' : 'Preview'), ' ', preview.what),
      h('button.quiet', { onclick: () => other !== undefined && void app.show(other) }, before ? 'Show after' : 'Show before'),
      ...save(preview),
      h('button.quiet', { onclick: () => void workshop.endPreview(true) }, 'Keep open'),
      h('button.quiet', { onclick: () => void workshop.endPreview(false) }, 'Discard'));
  };
  app.on(['preview', 'net'], update);
  return element;
}
