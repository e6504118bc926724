// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What is selected, in full: an operator, a blob with its versions, a scope; the net when nothing is.

import type { ArgInfo, BlobDetails, BlobVersion, OpDetails, Port, ScopeInfo } from '../../wasm/weft.d.ts';
import type { App } from './app.ts';
import { checkedTable, problems } from './checked.ts';
import { bytes, count, digits, h } from './dom.ts';
import { filledBy } from './init_choice.ts';
import { nestedSections } from './inside.ts';
import { netTitle } from './state.ts';

const SHOWN = 12; // readers that are listed before "and 40 more"
const roleNames = { forward: 'Forward', backward: 'Backward', update: 'Update', collective: 'Collective' } as const;

export class Details {
  readonly element = h('div.details', { tabIndex: -1, role: 'region', 'aria-label': 'Details' });
  private readonly app: App;
  private all = false;

  constructor(app: App) {
    this.app = app;
    app.on(['selection', 'net', 'files', 'findings', 'scene', 'measures'], () => this.update());
    app.on(['selection'], () => {
      this.all = false;
      this.element.parentElement?.scrollTo({ top: 0 });
    });
  }

  private update(): void {
    const { selection, view } = this.app.state;
    this.element.replaceChildren(
      ...(!view ? []
        : selection?.what === 'op' && selection.details ? this.op(selection.details)
        : selection?.what === 'blob' && selection.details ? this.blob(selection.details, selection.value)
        : selection?.what === 'ops' ? this.ops(selection.ops)
        : selection?.what === 'scope' && selection.info ? this.scope(selection.info)
        : this.net()),
    );
  }

  // References that jump.

  private opRef(op: number, type = this.app.typeOf(op)): HTMLElement {
    return h('button.ref.op', { onclick: () => void this.app.selectOp(op, { reveal: true }) }, type, h('span.i', this.app.inPlace.locate(op).op));
  }
  private valueRef(port: { name: string; version: number; value: number }): HTMLElement {
    return h('button.ref', { onclick: () => void this.app.selectValue(port.value) }, port.name, h('span.v', '@' + port.version));
  }
  private opList(ops: ArrayLike<number>, total = ops.length): Node[] {
    const shown = this.all ? ops.length : Math.min(ops.length, SHOWN);
    const out: Node[] = Array.from({ length: shown }, (_, i) => this.opRef(ops[i] ?? -1));
    if (total > shown) {
      const more = () => {
        this.all = true;
        void this.app.learnTypes(this.app.state.view?.net.id ?? -1, [...Array.from(ops)]).then(() => this.update());
      };
      out.push(shown < ops.length ? h('button.ref.op.faint', { onclick: more }, `and ${digits(total - shown)} more`) : h('span.faint', `and ${digits(total - shown)} more`));
    }
    return out;
  }

  // The net.

  private net(): Node[] {
    const { app } = this;
    const { view, documents, nets } = app.state;
    if (!view) return [];
    const { net } = view;
    const document = documents.find((d) => d.id === net.document);
    const init = filledBy(app, net);
    const filled = app.state.pairs.filter((p) => p.init === net.id);
    const wrong = problems(app.state);
    const counts = app.render.counts();
    return [
      h('div.kind', h('span', net.parent >= 0 ? `Net inside operator ${net.parentOp}, ${net.parentArg}` : 'Net'), net.type ? h('span.fainter', net.type) : null),
      h('h2', netTitle(net, documents)),
      h('p.sub', document ? `${document.name}, ${document.format}, ${bytes(document.bytes)}` : ''),
      h('div.facts', fact(digits(net.numOps), net.numOps === 1 ? 'operator' : 'operators'), fact(digits(counts.nodes), 'boxes shown'),
        fact(net.hasGradients ? 'yes' : 'no', 'has gradients'), fact(digits(wrong), wrong === 1 ? 'finding' : 'findings')),
      section('Checked', checkedTable(app)),
      init.length > 0 ? section('Filled by', ...init) : null,
      filled.length > 0
        ? section('Fills', ...filled.map((p) => {
            const target = nets.find((n) => n.id === p.net);
            return target ? h('div', h('button.ref', { onclick: () => void app.show(target.id) }, netTitle(target, documents)), ` ${count(p.matched, 'input')}`) : null;
          }))
        : null,
      section('Reading it',
        h('p.doc', net.hasGradients
          ? 'Forward operators stand on the left, the gradient of each in the same row, then what updates the parameters. Select an operator to see what it reads and writes.'
          : 'Data flows down. Select an operator to see what it reads and writes.')),
    ].filter((n): n is HTMLElement => n !== null);
  }

  // An operator.

  private op(op: OpDetails): Node[] {
    const { app } = this, where = app.inPlace.where(op.op);
    const findings = [...op.findings].map((i) => app.state.view?.findings[i]).filter((f) => f !== undefined);
    const given = op.args.filter((a) => a.given);
    const set = op.args.filter((a) => !a.given && (a.otherwise || a.required)); // by default
    const unset = op.args.filter((a) => !a.given && !a.otherwise && !a.required);
    const fields: [string, string][] = [
      ['device', op.device], ['engine', op.engine], ['name', op.name], ['debug_info', op.debugInfo], ['domain', op.domain],
      ['op_version', op.opVersion], ['is_gradient_op', op.isGradientOp === null ? '' : String(op.isGradientOp)],
      ['control inputs', op.controlInputs.join(', ')], ['unknown fields', op.unknownBytes ? bytes(op.unknownBytes) : ''],
    ];
    return [
      h('div.kind.' + op.role, h('span', roleNames[op.role]), h('span.fainter', `operator ${app.inPlace.locate(op.op).op}`)),
      h('h2', op.type || '(no type)'),
      op.name ? h('p.sub', op.name) : null,
      where ? h('p.sub', `in ${where}`) : null,
      app.measures.cost(op.op) ? h('p.sub.cost', app.measures.cost(op.op)) : null,
      op.known ? null : h('p', h('span.faint', 'Not an operator that Weft knows.'), op.nearest.length ? ` Did you mean ${op.nearest.join(', ')}?` : ''),
      ...findings.map((f) => h('p.finding.' + f.severity, h('b', severityMark(f.severity) + ' '), f.message)),
      section('Reads', this.ports(op.inputs, op.numInputs, false), op.numInputs),
      section('Writes', this.ports(op.outputs, op.numOutputs, true), op.numOutputs),
      op.forward >= 0 ? section('Serves', this.opRef(op.forward)) : null,
      op.servedBy.length ? section('Gradient and updates', h('div.ends', ...this.opList(op.servedBy)), op.servedBy.length) : null,
      op.replicas.length ? section('On other devices', h('div.ends', ...this.opList(op.replicas)), op.replicas.length) : null,
      ...nestedSections(app, op),
      op.args.length ? section('Arguments', h('table', ...[...given, ...set].map((a) => this.arg(a, op))), unset.length ? h('p.fainter', `Not set: ${unset.map((a) => a.name).join(', ')}`) : null) : null,
      fields.some(([, v]) => v) ? section('Fields', h('table', ...fields.filter(([, v]) => v).map(([k, v]) => h('tr', h('td.key', k), h('td.value', v))))) : null,
      op.gradient.length ? section('Gradient', h('div', { title: op.gradientRule }, ...op.gradient.map(({ when, text, sentence }) =>
        h('div.rule', when ? h('p.doc', `if ${when}:`) : null, h(sentence ? 'p.doc' : 'code', text))))) : null,
      op.doc ? section('Documentation', h('p.doc', op.doc)) : null,
    ].filter((n): n is HTMLElement => n !== null);
  }

  // Several operators.

  private ops(ops: Int32Array): Node[] {
    const { app } = this;
    const types = new Map<string, number>();
    for (const op of ops) types.set(app.typeOf(op), (types.get(app.typeOf(op)) ?? 0) + 1);
    const sorted = [...types].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    return [
      h('div.kind', h('span', 'Selection'), h('span.fainter', `operators ${ops[0]} to ${ops.at(-1)}`)),
      h('h2', count(ops.length, 'operator')),
      section('Do',
        h('div', h('button.ref.op', { onclick: () => void app.group() }, 'Collapse into one box'), ' ', h('kbd', 'Ctrl+G')),
        h('div', h('span.faint', 'Copy names, or protobuf text '), h('kbd', 'Ctrl+C'), ' ', h('kbd', 'Ctrl+Shift+C'))),
      section('Types', h('table', ...sorted.slice(0, 40).map(([type, n]) => h('tr', h('td', type), h('td.note', digits(n)))))),
      section('Operators', h('div.ends', ...this.opList(ops)), ops.length),
    ];
  }

  private ports(ports: Port[], total: number, written: boolean): HTMLElement {
    if (ports.length === 0) return h('p.fainter', 'nothing');
    const shown = this.all ? ports : ports.slice(0, 60);
    return h('ul.ports', ...shown.map((p) => {
      const notes = [p.port, p.param ? 'parameter' : '', p.inPlace ? 'in place' : '', p.external ? (written ? 'output of the net' : 'from outside') : ''].filter(Boolean);
      const ends = written
        ? (p.readers.length ? h('div.ends', { 'data-arrow': '→' }, ...this.opList(p.readers, p.numReaders)) : h('div.ends', { 'data-arrow': '→' }, h('span.fainter', 'nobody reads it')))
        : (p.writer >= 0 ? h('div.ends', { 'data-arrow': '←' }, this.opRef(p.writer)) : null);
      const over = p.overwrittenBy >= 0 && !p.inPlace ? h('div.ends', { 'data-arrow': '×' }, h('span', 'overwritten by '), this.opRef(p.overwrittenBy)) : null;
      const shape = this.app.measures.text(p.value);
      return h('li', h('div.row', this.valueRef(p), h('span.role', notes.join(', '))), shape ? h('div.shape', shape) : null, ends, over);
    }), shown.length < ports.length ? h('li', h('button.ref.op.faint', { onclick: () => { this.all = true; this.update(); } }, `and ${digits(total - shown.length)} more`))
      : total > ports.length ? h('li.faint', `and ${digits(total - ports.length)} more`) : null);
  }

  private arg(arg: ArgInfo, op: OpDetails): HTMLElement {
    const notes = [arg.declared ? '' : op.known ? 'not declared' : '', arg.required && !arg.given ? 'required, missing' : '',
      arg.mismatch ? 'declared with another type' : '', arg.given && arg.otherwise && arg.otherwise !== arg.value ? `default ${arg.otherwise}` : ''].filter(Boolean);
    const value = arg.given ? arg.value : arg.otherwise;
    const nets = [...arg.nets].map((id) => h('button.ref', { onclick: () => void this.app.show(id) }, 'enter →'));
    return h('tr', h('td.key', arg.name), h('td.value' + (arg.given ? '' : '.default'), value, nets.length ? ' ' : '', ...nets),
      h('td.note', [arg.type, ...notes].filter(Boolean).join(', ')));
  }

  // A blob.

  private blob(blob: BlobDetails, value: number): Node[] {
    const what = [blob.param ? 'parameter' : '', blob.externalInput ? 'from outside' : '', blob.externalOutput ? 'output of the net' : ''].filter(Boolean);
    const at = blob.versions.findIndex((v) => v.value === value);
    const version = blob.versions[at];
    const around = this.all ? [0, blob.versions.length] : [Math.max(0, at - 60), at + 60];
    const listed = blob.versions.slice(...around);
    return [
      h('div.kind', h('span', 'Blob'), h('span.fainter', what.join(', '))),
      h('h2', h('span', blob.name), h('span.fainter', version ? `@${version.version}` : '')),
      h('p.sub', blob.versions.length === 1 ? 'one version' : `version ${at + 1} of ${digits(blob.versions.length)}`, '  ', h('kbd', '['), ' ', h('kbd', ']')),
      blob.gradient ? section('Gradient', h('button.ref', { onclick: () => void this.app.selectBlobNamed(blob.gradient) }, blob.gradient)) : null,
      section('Versions',
        h('ol.versions', ...listed.map((v) => this.version(v, v.value === value))), blob.versions.length),
      listed.length < blob.versions.length ? h('button.ref.op.faint', { onclick: () => { this.all = true; this.update(); } }, 'show all versions') : null,
    ].filter((n): n is HTMLElement => n !== null);
  }
  private version(v: BlobVersion, here: boolean): HTMLElement {
    const shape = this.app.measures.text(v.value);
    const item = h('li' + (here ? '.here' : ''),
      h('div.row', h('button.ref', { onclick: () => void this.app.selectValue(v.value, { reveal: true }), 'aria-current': here ? 'true' : undefined }, h('span.v', '@'), v.version),
        v.writer >= 0 ? this.opRef(v.writer) : h('span.faint', 'from outside')),
      shape ? h('div.shape', shape) : null,
      h('div.reads', v.numReaders ? 'read by' : 'nobody reads it', ...this.opList(v.readers, v.numReaders)));
    return item;
  }

  // A scope.

  private scope(scope: ScopeInfo): Node[] {
    const { app } = this;
    const open = app.isExpanded(scope.id);
    return [
      h('div.kind', h('span', scope.synthetic ? 'Stretch of operators' : scope.user ? 'Your selection' : 'Scope'), h('span.fainter', scope.repeats > 1 ? `one of ${scope.repeats} alike` : '')),
      h('h2', scope.label || 'the whole net'),
      scope.path !== scope.label ? h('p.sub.mono', scope.path) : null,
      h('div.facts', fact(digits(scope.numOps), 'operators in all'), fact(digits(scope.numScopes), 'scopes in it'), fact(digits(scope.numDirect), 'operators of its own')),
      section('Do',
        h('button.ref.op', { onclick: () => void app.toggleScope(scope.id) }, open ? 'Collapse it' : 'Expand it'),
        open || scope.numScopes === 0 ? null : h('div', h('button.ref.op', { onclick: () => void app.toggleScope(scope.id, true) }, 'Expand all of it')),
        scope.user ? h('div', h('button.ref.op', { onclick: () => void app.ungroup() }, 'Dissolve it')) : null),
    ].filter((n): n is HTMLElement => n !== null);
  }
}

const fact = (value: string, what: string): HTMLElement => h('div', h('b', value), h('span', what));
export const severityMark = (severity: string): string => ({ error: '!', warning: '▲', note: '·' })[severity] ?? '·';

function section(title: string, ...rest: (Node | string | number | null)[]): HTMLElement {
  const last = rest.at(-1);
  const number = typeof last === 'number' ? rest.pop() : null;
  return h('section', h('div.label', title, typeof number === 'number' && number > 0 ? h('span.fainter', digits(number)) : null), ...rest);
}
