// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The nets inside an operator, in the details: their operators, and what they capture of the blobs around, in which
// version. The engine knows the first, `weft ssa --nested` the second.

import type { OpDetails } from '../../wasm/weft.d.ts';
import type { App } from './app.ts';
import { count, h } from './dom.ts';

const SHOWN = 14; // operators, and captured blobs, of one net
interface Captured { inner: string; outer: string; version: number | null; after: number | null; reads: boolean; writes: boolean }
type Told = { nested: { path: string; captured: Captured[] }[] };

// What the command told of each file's net, as long as the file is open.
const told = new WeakMap<Blob, Map<string, Promise<Told>>>();

function askCommand(app: App): Promise<Told> {
  const base = app.path()[0];
  if (!base) return Promise.reject(new Error('no net'));
  const { word, file } = app.workshop.fileOf(base);
  const known = told.get(file.blob) ?? new Map<string, Promise<Told>>();
  told.set(file.blob, known);
  let answer = known.get(word);
  if (!answer) {
    answer = app.workshop.command.json<Told>(['ssa', word, '--nested'], [file]).result.then(({ value }) => value);
    answer.catch(() => known.delete(word));
    known.set(word, answer);
  }
  return answer;
}

/** One section for each net; they fill as answers come. */
export function nestedSections(app: App, op: OpDetails): HTMLElement[] {
  const outer = [...app.path().slice(1).map((net) => `${net.parentOp}.${net.parentArg}`), ...app.inPlace.pathOf(op.op)];
  const own = app.inPlace.locate(op.op).op, open = app.inPlace.isOpen(op.op);
  return op.args.filter((arg) => arg.nets.length > 0).flatMap((arg) => [...arg.nets].map((id) => {
    const path = [...outer, `${own}.${arg.name}`].join('/');
    const enter = h('button.ref', { 'aria-label': `Enter ${arg.name}`, onclick: () => void app.show(id) }, 'enter →');
    const ports = h('ul.ports.captured'), ops = h('ol.inside');
    const show = h('button.ref', { 'aria-label': `${open ? 'Close' : 'Open'} in place`, onclick: () => void app.inPlace.toggle(op.op) }, open ? 'close' : 'open in place');
    const section = h('section.nested', { 'data-path': path }, h('div.label', arg.name, h('span.ways', show, ' ', enter)), ports, ops);
    void fill(app, id, ops);
    void askCommand(app).then((answer) => {
      const captured = answer.nested.find((net) => net.path === path)?.captured ?? [];
      ports.replaceChildren(...captured.slice(0, SHOWN).map((blob) => port(app, blob)),
        ...(captured.length > SHOWN ? [h('li.faint', `and ${captured.length - SHOWN} more`)] : []));
      if (captured.length === 0) ports.replaceChildren(h('li.fainter', 'Takes nothing from the net around it.'));
    }).catch((error: Error) => ports.replaceChildren(h('li.fainter', `What it captures is not known: ${error.message}`)));
    return section;
  }));
}

function port(app: App, { inner, outer, version, after, reads, writes }: Captured): HTMLElement {
  const named = (at: number | null) => h('button.ref', { onclick: () => void app.selectBlobNamed(outer, at ?? undefined, { reveal: true }) }, outer, h('span.v', at === null ? '' : '@' + at));
  return h('li', h('div.row', h('span.mono', inner === outer ? '' : `${inner} is `, reads ? named(version) : named(after)), h('span.role', reads && writes ? 'reads, writes' : writes ? 'writes' : 'reads')),
    reads && writes && after !== null ? h('div.ends', { 'data-arrow': '→' }, named(after)) : null);
}

async function fill(app: App, id: number, into: HTMLElement): Promise<void> {
  const net = app.state.nets.find((n) => n.id === id) ?? (await app.engine.ask('describeNet', id));
  const some = Array.from({ length: Math.min(net.numOps, SHOWN) }, (_, i) => i);
  const { types, names } = await app.engine.ask('opLabels', id, some);
  into.replaceChildren(...some.map((op) => h('li', h('button.ref.op', { onclick: () => void app.show(id).then(() => app.selectOp(op, { reveal: true })) }, types[op] ?? '', h('span.i', op), ' ', h('span.fainter', names[op] ?? '')))),
    ...(net.numOps > SHOWN ? [h('li.faint', `of ${count(net.numOps, 'operator')}`)] : net.numOps === 0 ? [h('li.fainter', 'no operators')] : []));
}
