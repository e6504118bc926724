// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Which open net fills a net's inputs: what their contents say, another one, or none.

import type { NetInfo } from '../../wasm/weft.d.ts';
import type { App } from './app.ts';
import { count, digits, h } from './dom.ts';
import { initOf, netTitle } from './state.ts';

/** The pair in words, with the choice of another; nothing where nothing fills the net and nothing could. */
export function filledBy(app: App, net: NetInfo): HTMLElement[] {
  const { state, workshop } = app, { nets, documents, preview } = state;
  const pair = initOf(state, net.id), init = pair && nets.find((n) => n.id === pair.init);
  const others = nets.filter((n) => n.parent < 0 && n.id !== net.id && n.document !== preview?.document);
  const fills = state.pairs.some((p) => p.init === net.id && p.matched > 0);
  if (!init && (net.parent >= 0 || fills || others.length === 0)) return [];
  const chosen = workshop.chosenInit(net);
  const option = (value: number, text: string) => h('option', { value: String(value), selected: value === chosen }, text);
  const said = !pair ? chosen === -1 ? 'Nothing, as chosen' : 'Nothing that is open fills its inputs'
    : `${count(pair.matched, 'input')} ${pair.chosen ? 'filled' : 'matched by content'}${pair.missing ? `, ${digits(pair.missing)} missing` : ''}`;
  return [
    init ? h('button.ref', { onclick: () => void app.show(init.id) }, netTitle(init, documents)) : h('span'),
    h('p.sub', said),
    h('label.initchoice', h('span.fainter', 'Init net'), h('select', { 'aria-label': 'Init net', onchange: (event: Event) => void workshop.chooseInit(net, Number((event.target as HTMLSelectElement).value)) },
      option(-2, 'as the contents say'), ...others.map((n) => option(n.id, netTitle(n, documents) + (others.some((o) => o !== n && o.name === n.name) ? `, ${documents.find((d) => d.id === n.document)?.name ?? ''}` : ''))), option(-1, 'none'))),
  ];
}
