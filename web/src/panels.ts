// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The smaller panels: what was found, findings about the net, files that are open.

import type { App } from './app.ts';
import { differentiable } from './checked.ts';
import { severityMark } from './details.ts';
import { bytes, count, digits, h } from './dom.ts';
import { advice } from './find_terms.ts';
import { goElsewhere } from './finder.ts';
import { netTitle } from './state.ts';
import { VirtualList } from './virtual_list.ts';

/** The operators that a query found, in order. */
export function foundPanel(app: App): HTMLElement {
  let known = 0;
  const list = new VirtualList('listing', 20, (first, rows) => {
    const { found } = app.state;
    if (!found) return [];
    const elsewhere = found.elsewhere.flatMap(({ net, place, ops }) => [...ops].map((op) => ({ net, place, op })));
    const after = elsewhere.slice(Math.max(0, first - found.ops.length), Math.max(0, first + rows - found.ops.length)).map(({ net, place, op }) =>
      h('div.line', { onclick: () => void goElsewhere(app, net, op) }, h('span.n', op), h('span', h('span.type', app.typeOf(op, net)), '  ', h('span.dim', `${app.nameOf(op, net)}  in ${place}`))));
    const ops = [...found.ops.subarray(first, first + rows)];
    const missing = ops.filter((op) => app.typeOf(op) === 'op');
    if (missing.length > 0) {
      const mine = ++known;
      void app.learnTypes(app.state.view?.net.id ?? -1, missing).then(() => mine === known && list.update());
    }
    return [...ops.map((op, i) => h('div.line' + (first + i === found.at ? '.selected' : ''), { onclick: () => {
      found.at = first + i;
      void app.selectOp(op, { reveal: true }).then(() => list.update());
    } }, h('span.n', op), h('span', h('span.type', app.typeOf(op)), '  ', h('span.dim', app.nameOf(op))))), ...after];
  });
  const none = h('p'), nothing = h('div.nothing', none, 'Type in the box above to find operators and blobs: a word, ', h('code.mono', 'type:Conv'), ', ', h('code.mono', 'blob:/_grad$/'), ', ',
    h('code.mono', 'device:cuda:1'), ', ', h('code.mono', 'kernel>3'), ', ', h('code.mono', 'version>0'), ', ', h('code.mono', 'shape:[N,64,*,*]'), ', ', h('code.mono', 'bytes>1e6'), ', ', h('code.mono', 'flops>1e9'), ' and more, together. A - before a word turns it round.');
  const failed = h('p.failed');
  const element = h('div.found', failed, nothing, list.element);
  const update = () => {
    const { found } = app.state;
    const total = (found?.ops.length ?? 0) + (found?.elsewhere.reduce((sum, { ops }) => sum + ops.length, 0) ?? 0);
    failed.textContent = found?.error ?? '';
    const query = found && !found.running && !found.error ? found.query : '';
    none.replaceChildren(...(query ? [h('b', 'Nothing found. '), ...advice(query.trim()).map((part, i) => (i % 2 ? h('button.ref', { onclick: () => void app.find(part) }, part) : part))] : []));
    nothing.hidden = !!found && !found.error && total > 0;
    list.element.hidden = !nothing.hidden;
    list.setCount(total);
    if (found && found.at >= 0) list.reveal(found.at);
  };
  app.on(['found'], update);
  update();
  return element;
}

export function findingsPanel(app: App): HTMLElement {
  const element = h('div');
  app.on(['net', 'findings'], () => {
    const { view, planned } = app.state, findings = view?.findings ?? [], gradients = () => app.showTool('gradients');
    // What the planner said belongs here too; it speaks when it is asked.
    const failed = view && planned.get(view.net.id);
    const plan = failed
      ? h('ul.findings', h('li.error', h('button', { onclick: gradients }, h('span.mark', { title: 'error' }, severityMark('error')),
          h('span', h('b', 'no backward pass'), h('p', failed.split('\n')[0] ?? ''), h('p.remedy', '→ Gradients shows why, and repairs it where that can be')))))
      : view && differentiable(app.state) && !planned.has(view.net.id)
        ? h('p.nothing', findings.length === 0 ? 'Nothing to remark about this net. ' : '', 'Whether it has a backward pass is not checked here. ', h('button.quiet', { onclick: gradients }, 'Plan its gradient')) : null;
    if (findings.length === 0) {
      element.replaceChildren(plan ?? (view ? h('p.nothing', 'Nothing to remark about this net.') : ''));
      return;
    }
    const order = { error: 0, warning: 1, note: 2 };
    const sorted = findings.map((finding, i) => ({ finding, i })).sort((a, b) => order[a.finding.severity] - order[b.finding.severity] || a.i - b.i);
    const shown = sorted.slice(0, 500);
    element.replaceChildren(
      ...(failed && plan ? [plan] : []),
      h('ul.findings', ...shown.map(({ finding }) =>
        h('li.' + finding.severity, h('button', { onclick: () => {
          if (finding.op >= 0 && !finding.path) void app.selectOp(finding.op, { reveal: true });
          else if (finding.blob) void app.selectBlobNamed(finding.blob, undefined, { reveal: true }).catch(() => {});
        } }, h('span.mark', { title: finding.severity }, severityMark(finding.severity)),
          h('span', h('b', finding.code.replaceAll('_', ' ')), finding.op >= 0 ? h('span.fainter', `  operator ${finding.op}${finding.path ? ` of ${finding.path}` : ''}`) : null, h('p', finding.message), finding.remedy ? h('p.remedy', '→ ', finding.remedy) : null))))),
      ...(sorted.length > shown.length ? [h('p.nothing', `and ${digits(sorted.length - shown.length)} more`)] : []),
      ...(!failed && plan ? [plan] : []),
    );
  });
  return element;
}

export function filesPanel(app: App): HTMLElement {
  const element = h('div');
  app.on(['files', 'net', 'preview'], () => {
    const { documents, nets, pairs, view } = app.state;
    element.replaceChildren(
      h('ul.files', ...documents.map((document) =>
        h('li', h('b', document.name), h('div.how', `${document.format}, ${bytes(document.bytes)}${app.workshop.unsaved.has(document.id) ? ', not saved' : ''}`),
          ...nets.filter((net) => net.document === document.id).map((net) => {
            const pair = pairs.find((p) => p.net === net.id);
            const init = pair && nets.find((n) => n.id === pair.init);
            return h('div', h('button.ref.op', { onclick: () => void app.show(net.id), 'aria-current': view?.net.id === net.id ? 'true' : undefined }, netTitle(net, documents)),
              h('span.faint', `  ${count(net.numOps, 'operator')}`), init ? h('div.how', `filled by ${netTitle(init, documents)}: ${count(pair.matched, 'input')}${pair.missing ? `, ${digits(pair.missing)} missing` : ''}`) : null);
          }),
          h('button.ref.op.faint', { onclick: () => void app.close(document.id) }, 'Close')))),
    );
  });
  return element;
}
