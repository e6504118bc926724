// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What is shown as a picture, the net in other formats, a page with the net inside, the address of the view.

import './export.css';
import type { App } from '../app.ts';
import { pageWith } from '../carry.ts';
import { bytes, digits, h } from '../dom.ts';
import { labelsOf } from '../edge_labels.ts';
import type { Task } from '../engine.ts';
import { saveFile } from '../files.ts';
import { MAX_PIXELS, MAX_SIDE, pictureScale, RATIO, scenePicture } from '../picture.ts';
import { FULL_SCALE, type Rectangle } from '../render.ts';
import { netTitle } from '../state.ts';
import { sceneToSvg } from '../svg.ts';
import { asCommand, part, Progress, type Tool } from './tool.ts';

type What = 'view' | 'selection' | 'all';
const MARGIN = 24; // world units
const LEAST = 0.05; // of a picture's scale: below it nothing can be read

/** The rectangle of the world that a picture shows; null when there is none. */
function rectOf(app: App, what: What): Rectangle | null {
  const { render, view } = app;
  const around = (rects: (Rectangle | null)[], left = MARGIN, top = MARGIN): Rectangle | null => {
    const some = rects.filter((rect) => rect !== null);
    if (some.length === 0) return null;
    const x = Math.min(...some.map((r) => r.x)) - left, y = Math.min(...some.map((r) => r.y)) - top;
    return { x, y, w: Math.max(...some.map((r) => r.x + r.w)) + MARGIN - x, h: Math.max(...some.map((r) => r.y + r.h)) + MARGIN - y };
  };
  if (what === 'all') {
    const bounds = render.bounds(), scale = pictureScale(bounds, 1), { left, top } = render.headingRoom(scale);
    return around([bounds], Math.max(MARGIN, left / scale), Math.max(MARGIN, top / scale));
  }
  if (what === 'view') {
    const { x, y, w, h, scale } = view.sight();
    return { x, y, w: w / scale, h: h / scale };
  }
  const { selection } = app.state;
  if (selection?.what === 'scope') return around([render.scopeRect(selection.scope)]);
  const version = selection?.what === 'blob' ? selection.details?.versions.find((v) => v.value === selection.value) : null;
  const ops = version ? [version.writer, ...version.readers.slice(0, 1000)] : [...app.selectedOps()];
  return around(ops.filter((op) => op >= 0).map((op) => render.opRect(op)));
}

function make(app: App) {
  const progress = new Progress();
  let what: What = 'view', all = false;
  const hint = h('p.hint'), choices = h('div.segments', { role: 'radiogroup', 'aria-label': 'What the picture shows' });
  const command = h('div'), htmlHint = h('p.hint'), address = h('code.address');
  const formats = h('div.row'), pictures = h('div.row');
  const base = () => app.path()[0] ?? null; // what shows, previews included
  const name = () => {
    const net = app.state.view?.net;
    return (net ? netTitle(net, app.state.documents).replace(/\.\w+$/, '') : 'net').replaceAll(/[^\w.-]+/g, '_') || 'net';
  };
  const scaleOf = (rect: Rectangle) => pictureScale(rect, what === 'view' ? app.view.camera.scale : 1);

  const picture = async (format: 'svg' | 'png') => {
    const { view } = app.state, rect = rectOf(app, what);
    if (!view || !rect) return;
    const stop = { stopped: false };
    const draw = async (): Promise<Blob> => {
      if (format === 'svg') {
        const scale = what === 'view' ? app.view.camera.scale : 1, full = scale < FULL_SCALE ? 1 : scale;
        const beside = { labels: await labelsOf(app, rect, full, stop), scale: full };
        const words = await app.engine.scene(view.net.id, view.options).result;
        return sceneToSvg(words, rect, scale, app.theme.rendererColors(), app.tint.words, beside, netTitle(view.net, app.state.documents), stop);
      }
      const labels = await labelsOf(app, rect, scaleOf(rect), stop);
      for (const mark of ['selected', 'related', 'hover'] as const) app.render.mark(mark, {});
      return scenePicture(app.render, app.view.canvas, rect, scaleOf(rect), labels, () => app.view.redraw(), stop).finally(() => app.select(app.state.selection));
    };
    const blob = await progress.follow(`Drawing the ${format.toUpperCase()}`, stoppable(draw(), stop));
    if (blob) saveFile(`${name()}.${format}`, blob);
  };
  const convert = async (ending: string) => {
    const net = base();
    if (!net) return;
    try {
      const { word, file } = app.workshop.fileOf(net), words = ['convert', word, `${name()}.${ending}`];
      command.replaceChildren(asCommand(words));
      // A file may be called like what is made of it.
      const made = `made.${ending}`;
      const ran = await progress.follow(`Writing ${words[2]}`, app.workshop.command.run(['convert', word, made], [file]));
      const out = ran?.files.find((f) => f.name === made);
      if (ran && !out) progress.fail(ran.err.trim());
      else if (out) saveFile(words[2] ?? made, new Blob([out.bytes as Uint8Array<ArrayBuffer>]));
    } catch (error) {
      progress.fail((error as Error).message);
    }
  };
  const files = () => {
    const net = base();
    if (all || !net) return app.workshop.files();
    const init = app.workshop.initOf(net);
    const own = [net, ...(init ? [init] : [])].map((n) => app.workshop.fileOf(n).file);
    return [...new Set(own)];
  };
  const html = async () => {
    try {
      const blob = await progress.follow('Packing', { result: pageWith(files(), app.link.fragment().replace(/^url=[^&]*&/, '')), cancel: () => {} });
      if (blob) saveFile(`${name()}.html`, blob);
    } catch (error) {
      progress.fail((error as Error).message);
    }
  };

  const tell = () => {
    const rect = rectOf(app, what);
    for (const button of pictures.querySelectorAll('button')) button.disabled = !rect;
    if (!rect) return hint.replaceChildren('Select an operator, a blob or a scope first.');
    const scale = scaleOf(rect), wanted = what === 'view' ? app.view.camera.scale : 1;
    const [w, ht] = [Math.round(rect.w * scale * RATIO), Math.round(rect.h * scale * RATIO)];
    const png = pictures.querySelector<HTMLButtonElement>('[data-format=png]');
    if (png) png.disabled = scale < LEAST && scale < wanted;
    hint.replaceChildren(`The PNG has ${digits(w)} × ${digits(ht)} pixels`,
      scale >= wanted ? ', two for each on the screen.' : png?.disabled ? '; nothing could be read at that size. Save the SVG, or collapse some scopes.'
        : `: ${Math.round((100 * scale) / wanted)} % of its size, since a picture may have ${digits(MAX_SIDE)} pixels a side and ${MAX_PIXELS / 1e6} million in all.`,
      ' In the SVG text stays text.');
  };
  const show = () => {
    const net = base();
    choices.replaceChildren(...(['view', 'selection', 'all'] as const).map((each) =>
      h('button', { role: 'radio', 'aria-checked': String(what === each), onclick: () => {
        what = each;
        show();
      } }, { view: 'View', selection: 'Selection', all: 'Everything' }[each])));
    tell();
    let some: { name: string; blob: Blob }[] = [];
    try {
      some = files();
    } catch {
      // A net that stands in no file has none.
    }
    htmlHint.replaceChildren('One file that opens anywhere, without a network: this page, with ', ...some.flatMap((file, i) => [i > 0 ? ', ' : '', h('code', file.name)]), ` inside: ${bytes(some.reduce((sum, { blob }) => sum + blob.size, 0))} beside the page's own 3 MB.`);
    for (const button of formats.querySelectorAll('button')) button.disabled = !net;
    address.textContent = '#' + app.link.fragment();
  };
  pictures.append(...(['svg', 'png'] as const).map((format) => h('button.quiet', { 'data-format': format, onclick: () => void picture(format) }, `Save ${format.toUpperCase()}`)));
  formats.append(...([['pb', 'binary'], ['pbtxt', 'text'], ['dot', 'for Graphviz'], ['json', 'with versions and roles']] as const).map(([ending, title]) =>
    h('button.quiet', { 'data-format': ending, title, onclick: () => void convert(ending) }, '.' + ending)));
  const every = h('label.check', h('input', { type: 'checkbox', onchange: (event: Event) => {
    all = (event.target as HTMLInputElement).checked;
    show();
  } }), 'all files that are open');
  app.on(['scene', 'selection', 'net'], () => element.offsetParent && show());
  app.on(['moved'], () => {
    if (!element.offsetParent) return;
    tell();
    address.textContent = '#' + app.link.fragment();
  });
  const element = h('div.export', progress.element,
    part('Picture', choices, pictures, hint),
    part('Net', h('p.hint', 'As the command writes it, to be read by others.'), formats, command),
    part('Page', htmlHint, every, h('div.row', h('button.quiet', { 'data-format': 'html', onclick: () => void html() }, 'Save HTML'))),
    part('Address', h('p.hint', 'What stands behind the # in the address shows this view again: the net, what is open, where, and the selection.'), address,
      h('div.row', h('button.quiet', { onclick: () => void navigator.clipboard?.writeText(location.href.replace(/#.*|$/, '#' + app.link.fragment())).then(() => app.announce('Copied'), () => {}) }, 'Copy the address'))));
  return { element, update: show };
}

function stoppable<T>(result: Promise<T>, stop: { stopped: boolean }): Task<T> {
  return { result, cancel: () => (stop.stopped = true) };
}

export const exportTool: Tool = {
  id: 'export', title: 'Export', what: 'Pictures, other formats, a page with the net inside', icon: 'M8 2v8M5 7l3 3 3-3M2.5 11v3h11v-3', make,
};
