// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What was looked at of the net that shows, and what nobody asked for yet: no finding says little without it.

import type { App } from './app.ts';
import { count, h } from './dom.ts';
import type { State } from './state.ts';

/** Findings that are no notes, a backward pass that cannot be among them. */
export const problems = ({ view, planned }: State): number =>
  (view?.findings.filter((f) => f.severity !== 'note').length ?? 0) + Number(!!planned.get(view?.net.id ?? -1));

/** Whether a backward pass is something to ask this net for. */
export const differentiable = ({ view, pairs }: State): boolean =>
  !!view && !view.net.hasGradients && view.net.parent < 0 && !pairs.some((pair) => pair.init === view.net.id);

export function checkedTable(app: App): HTMLElement {
  const { state, measures } = app, { view } = state, told = measures.told();
  const all = view?.findings.length ?? 0, bad = view?.findings.filter((f) => f.severity !== 'note').length ?? 0, plan = state.planned.get(view?.net.id ?? -1);
  const wrong = told?.findings.filter((f) => f.severity !== 'note').length ?? 0;
  const go = (text: string, panel: string) => h('button.ref.op', { onclick: () => app.showTool(panel) }, text, ' →');
  const row = (what: string, ...said: (Node | string)[]) => h('tr', h('td', what), h('td', ...said));
  return h('table.checked',
    row('Operators, names, order', all > 0 ? go(bad > 0 ? count(bad, 'finding') : count(all, 'note'), 'findings') : 'nothing found'),
    differentiable(state) || plan ? row('Backward pass', plan ? go('there is none', 'gradients') : plan === '' ? 'can be planned' : go('not asked yet', 'gradients')) : '',
    row('Shapes', !told ? go('not asked yet', 'shapes') : wrong > 0 ? go(`${wrong} wrong`, 'shapes') : told.whole ? 'all known' : go('not all known', 'shapes')));
}
