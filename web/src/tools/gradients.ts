// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The backward pass, planned while one chooses: what is differentiated, what is left out; what is added up and kept; what
// stands in the way, and its repair.

import './gradients.css';
import type { NetInfo } from '../../../wasm/weft.d.ts';
import type { App } from '../app.ts';
import type { Made } from '../command.ts';
import { count, digits, h } from '../dom.ts';
import { type Task, WeftError } from '../engine.ts';
import { type Amount, amount } from '../measures.ts';
import { netTitle } from '../state.ts';
import { VirtualList } from '../virtual_list.ts';
import { Progress, type Tool, asCommand, names, part } from './tool.ts';

interface Suggestion {
  losses: { loss: string; op: number; why: string; likely: boolean }[];
  stored: { begin: number; end: number; losses: string[] } | null;
  inputs: string[];
  blobs: string[];
}
interface Sum {
  op: number; type: string; of: string; of_version: number; blob: string; version: number;
  parts: { blob: string; version: number; op: number; type: string | null }[];
}
interface Stash { blob: string; version: number; from: number; to: number; for: number[]; bytes?: Amount }
interface Plan {
  grads: Record<string, string | { indices: string; values: string }>;
  origin: [number, number][];
  forward: number;
  sums: Sum[];
  stashes: Stash[];
  kept?: { bytes: Amount; unsized: number }; // when shapes of the inputs are known
  changes?: string[];
  listing?: string;
}
interface Conflict { blob: string; version: number; writer: number; reader: number; overwriter: number; output: boolean }
interface Failure { code: string; message: string; op: number; blob: string; conflicts?: Conflict[] }
type Listed = 'grads' | 'stashes' | 'sums';

const DEBOUNCE = 250;
const SHOWN = 40; // conflicts and sums that are shown at once

/** Failures become values, so that a panel can show them its own way; cancelled stays thrown. */
export const withFailure = <T>(task: Task<T>): Task<{ value: T } | { failure: Failure }> => ({
  cancel: task.cancel,
  result: task.result.then((value) => ({ value }), (error: Error) => {
    if (!(error instanceof WeftError) || error.cancelled) throw error;
    return { failure: error.failure as Failure };
  }),
});

/** A diff for reading: lines that begin with - and + in their colours. */
export const diffLines = (text: string): HTMLElement =>
  h('pre.listingdiff', ...text.split('\n').filter(Boolean).map((line) => h('span.' + (line[0] === '-' ? 'removed' : line[0] === '+' ? 'added' : 'same'), line + '\n')));

function make(app: App) {
  const { workshop } = app;
  let base: NetInfo | null = null;
  let suggestion: Suggestion | null = null;
  let plan: Plan | null = null;
  let failure: Failure | null = null;
  let repair = false;
  let alone = false; // of a repaired net, the forward part shows
  let files: Made[] = []; // what the plan that shows wrote: the whole net, then the repaired one alone
  let made = -1; // the document that shows the plan
  let showing: Promise<void> = Promise.resolve(); // until it does
  let timer = 0;
  let asked: string[] = []; // the words of the plan that shows
  let listed: Listed = 'grads';
  let grads: [string, string][] = [];

  const changed = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => void run(), DEBOUNCE);
  };
  const edited = () => {
    repair = alone = false;
    showLikely();
    changed();
  };
  const blobs = () => suggestion?.blobs ?? [];
  const losses = names('Losses', 'a blob', () => [...(suggestion?.losses.map((l) => l.loss) ?? []), ...blobs()], edited);
  const stops = names('Stop at', 'no gradient flows in', blobs, edited);
  const frozen = names('Frozen parameters', 'name or pattern', () => suggestion?.inputs ?? [], edited);
  const wrt = names('Only gradients of', 'all', blobs, edited);
  const select = (label: string, options: [string, string][]) =>
    h('select', { 'aria-label': label, onchange: edited }, ...options.map(([value, text]) => h('option', { value }, text)));
  const mixed = select('Dense meets sparse', [['', 'an error'], ['dense', 'summed as dense'], ['sparse', 'summed as sparse']]);
  const dedup = select('Repeated rows', [['', 'stay'], ['sum', 'summed'], ['mean', 'averaged']]);
  const likely = h('div.likely'), stored = h('p.hint'), progress = new Progress(), outcome = h('div'), selected = h('div');
  const command = h('div');
  const list = new VirtualList('listing.planlist', 22, (first, n) => Array.from({ length: n }, (_, i) => row(first + i)));
  const tabs = h('div.tabline', { role: 'tablist' });
  const lists = h('div.hidden', tabs);
  list.element.classList.add('hidden');
  list.element.setAttribute('aria-label', 'Of the backward pass');
  const element = h('div.gradients', stored,
    h('div', losses.element, likely), stops.element, frozen.element,
    h('details', h('summary', 'More choices'), wrt.element,
      h('div.pair', h('label', h('span.field', 'Dense meets sparse'), mixed), h('label', h('span.field', 'Repeated rows'), dedup))),
    progress.element, outcome, selected, lists, list.element, command);

  const opRef = (op: number, type: string) => h('button.ref.op', { onclick: () => void app.selectOp(op, { reveal: true }) }, type, h('span.i', op));
  const blobRef = (name: string, version?: number) => h('button.ref', { title: name, onclick: () => void app.selectBlobNamed(name, version, { reveal: true }) },
    name, version === undefined ? null : h('span.v', '@' + version));

  /** What is known of shapes goes along, so that the command tells bytes. */
  const known = () => (base && app.measures.known(base)) ?? { words: [], files: base ? [workshop.fileOf(base).file] : [] };
  async function size(): Promise<void> {
    if (!base) return;
    if (await progress.follow('Working out shapes', app.measures.ask(base))) asked.join(' ') === words().join(' ') ? show() : await run();
  }
  /** Shapes are told of the net before; a plan that is about to show would push it away. */
  async function give(): Promise<void> {
    await showing;
    if (base) await app.show(base.id);
    app.showTool('shapes');
  }
  function words(): string[] {
    if (!base) return [];
    const { word } = workshop.fileOf(base), stem = word.replace(/[#/]/g, '_').replace(/\.(pb|pbtxt|prototxt|txt)$/, '');
    const chosen = losses.get(), again = suggestion?.stored;
    const asStored = again && chosen.join('\n') === again.losses.join('\n');
    const each = (option: string, list: string[]) => list.flatMap((name) => [option, name]);
    return ['grad', word, ...(again ? ['--replan'] : []), ...(asStored ? [] : each('--loss', chosen)), ...each('--stop', stops.get()), ...each('--freeze', frozen.get()),
      ...each('--wrt', wrt.get()), ...(mixed.value ? ['--mixed', mixed.value] : []), ...(dedup.value ? ['--dedup', dedup.value] : []), ...(repair ? ['--repair', '--forward', stem + '_repaired.pb'] : []),
      ...known().words, '-o', stem + '_grad.pb'];
  }

  async function run(): Promise<void> {
    clearTimeout(timer);
    const of = base;
    if (!of) return;
    if (losses.get().length === 0) {
      progress.clear();
      plan = failure = null;
      return show();
    }
    const line = words();
    asked = line;
    const done = await progress.follow('Planning', withFailure(workshop.command.json<Plan>(line, known().files)));
    if (!done || of !== base) return;
    command.replaceChildren(asCommand(line));
    if ('failure' in done) {
      failure = done.failure;
      plan = null;
      app.state.planned.set(of.id, failure.message);
      app.tell('findings');
      show();
      if (app.state.preview?.document === made) await workshop.endPreview(false);
      made = -1;
      const at = failure.conflicts?.[0];
      app.showFaults(failure.conflicts ? [...new Set(failure.conflicts.slice(0, SHOWN).flatMap((c) => [c.reader, c.overwriter]))] : failure.op >= 0 ? [failure.op] : []);
      if (at) await app.selectBlobNamed(at.blob, at.version, { reveal: true });
      else if (failure.op >= 0) await app.selectOp(failure.op, { reveal: true });
      return;
    }
    failure = null;
    // A repaired one is another net.
    if (!repair) {
      app.state.planned.set(of.id, '');
      app.tell('findings');
    }
    plan = done.value.value;
    grads = Object.entries(plan.grads).map(([blob, g]) => [blob, typeof g === 'string' ? g : g.values]);
    files = ['_grad.pb', '_repaired.pb'].map((end) => done.value.files.find(({ name }) => name.endsWith(end))).filter((file) => file !== undefined);
    app.clearFaults();
    show();
    await preview(of, line);
  }
  function preview(of: NetInfo, line: string[]): Promise<void> {
    const shown = showPlan(of, line);
    showing = shown.catch(() => {});
    return shown;
  }
  async function showPlan(of: NetInfo, line: string[]): Promise<void> {
    const file = files[Number(alone)] ?? files[0];
    const what = repair ? alone ? 'Repair of' : 'Repair and backward pass of' : 'Backward pass of';
    if (file) await workshop.showPreview(`${what} ${netTitle(of, app.state.documents)}`, { ...file, bytes: file.bytes.slice() }, line, { likeNow: true }); // the engine takes its bytes away
    made = app.state.preview?.document ?? -1;
    show();
  }

  // What came of it.

  function show(): void {
    outcome.replaceChildren(...(failure ? [failed(failure)] : plan ? done(plan) : losses.get().length === 0 && suggestion ? [h('p.hint', 'Choose what to differentiate: a loss, usually one number.')] : []));
    for (const element of [lists, list.element]) element.classList.toggle('hidden', !plan || alone);
    if (plan) {
      const tab = (id: Listed, title: string, n: number) => h('button', { role: 'tab', 'data-list': id, 'aria-selected': String(listed === id), onclick: () => {
        listed = id;
        show();
      } }, title, h('span.n', digits(n)));
      tabs.replaceChildren(tab('grads', 'Gradients', grads.length), tab('stashes', 'Kept', plan.stashes.length), tab('sums', 'Added up', plan.sums.length));
      list.setCount(listed === 'grads' ? grads.length : plan[listed].length);
    }
    showSelected();
  }
  function done(of: Plan): HTMLElement[] {
    const gone = app.state.preview?.document !== made, told = base && app.measures.known(base);
    const facts = h('p.hint.tally', `${count(of.origin.length, 'generated operator')}, ${count(grads.length, 'gradient')}, ${count(of.stashes.length, 'value')} kept`,
      ...(of.stashes.length === 0 ? [] : of.kept && of.kept.unsized < of.stashes.length ? [', ', h('span', { 'data-kept': '' }, amount(of.kept.bytes, 'B'))]
        : ['. ', h('button.quiet', { onclick: () => void (told ? give() : size()) }, told ? 'Give shapes of the inputs' : 'How many bytes')]),
      ...(of.kept && of.kept.unsized > 0 && of.kept.unsized < of.stashes.length ? [`, and ${count(of.kept.unsized, 'value')} of unknown size`] : []),
      ...(gone && made >= 0 ? ['. ', h('button.quiet', { onclick: () => void run() }, 'Show it')] : []));
    if (!of.changes) return [facts];
    const shows = (label: string, forward: boolean) => h('button', { role: 'radio', 'aria-checked': String(alone === forward), onclick: () => {
      alone = forward;
      if (base) void preview(base, asked);
    } }, label);
    const choice = files.length > 1 ? [h('div.segments', { role: 'radiogroup', 'aria-label': 'What to show and save' }, shows('With its backward pass', false), shows('The repaired net alone', true))] : [];
    return [part('Repaired', ...of.changes.map((change) => h('p.hint', change)), of.listing ? diffLines(of.listing) : '', ...choice), facts];
  }
  function failed(of: Failure): HTMLElement {
    const conflicts = of.conflicts ?? [];
    const what = (op: number) => app.typeOf(op) === 'op' ? 'operator' : app.typeOf(op);
    if (base && conflicts.length > 0) void app.learnTypes(base.id, conflicts.slice(0, SHOWN).flatMap((c) => [c.reader, c.overwriter])).then(() => failure === of && fill());
    const items = h('ul');
    const fill = () => items.replaceChildren(...conflicts.slice(0, SHOWN).map((c) => h('li', 'The gradient of ', opRef(c.reader, what(c.reader)), ` needs its ${c.output ? 'output' : 'input'} `,
      blobRef(c.blob, c.version), c.overwriter === c.reader ? ', which it overwrites itself.' : [', but ', opRef(c.overwriter, what(c.overwriter)), ' overwrites it.'])),
      conflicts.length > SHOWN ? h('li.faint', `and ${digits(conflicts.length - SHOWN)} more`) : '');
    fill();
    return h('section.fails', { role: 'alert' }, h('b.head', conflicts.length > 0 ? 'A gradient needs what is overwritten' : 'No backward pass'),
      ...(conflicts.length > 0 ? [items,
        h('p.hint', 'Repair gives the version that is needed a name or a copy of its own. What the net computes stays.'),
        h('button.go', { onclick: () => {
          repair = true;
          void run();
        } }, 'Repair'),
        h('details', h('summary', 'In full'), h('pre', of.message))] : [h('pre', of.message), of.op >= 0 ? h('div', opRef(of.op, what(of.op))) : '']));
  }

  function row(i: number): HTMLElement {
    const line = h('div.line');
    if (listed === 'grads') {
      const [blob = '', gradient = ''] = grads[i] ?? [];
      line.append(h('span.name', blobRef(blob)), h('span.name.grad', blobRef(gradient)));
    } else if (listed === 'stashes') {
      const s = plan?.stashes[i];
      if (s) line.append(h('span.name', blobRef(s.blob, s.version)), h('span.num', `${digits(s.from)} → ${digits(s.to)}`), plan?.kept ? h('span.num.size', s.bytes === null || s.bytes === undefined ? '?' : amount(s.bytes, 'B')) : h('span.num.short', digits(s.to - s.from)));
    } else {
      const s = plan?.sums[i];
      if (s) line.append(h('span.name', blobRef(s.of)), h('span.num', `${digits(s.parts.length)} parts`), h('span.num', opRef(s.op, s.type)));
    }
    return line;
  }

  // What is selected.

  function showSelected(): void {
    const { selection } = app.state;
    const parts: HTMLElement[] = [];
    if (plan && selection?.what === 'op' && selection.op < plan.forward) {
      const kept = plan.stashes.filter((s) => s.for.includes(selection.op)).slice(0, SHOWN);
      parts.push(part(`Kept for the gradient of ${selection.details?.type ?? ''} ${selection.op}`, kept.length === 0 ? h('p.hint', 'nothing that an operator made')
        : h('ul.sumtree', ...kept.map((s) => h('li', blobRef(s.blob, s.version), h('span.faint', `${s.bytes === undefined || s.bytes === null ? '' : amount(s.bytes, 'B') + ', '}from operator ${digits(s.from)} to ${digits(s.to)}, over ${digits(s.to - s.from)}`))))));
    }
    const sums = !plan ? [] : selection?.what === 'op' ? plan.sums.filter((s) => s.op === selection.op)
      : selection?.what === 'blob' ? plan.sums.filter((s) => s.of === selection.details?.name || s.blob === selection.details?.name) : [];
    if (sums.length > 0) parts.push(part(`Gradient of ${sums[0]?.of}: a sum`, ...sums.slice(0, SHOWN).map(tree)));
    else if (plan && selection?.what === 'blob' && selection.details) {
      const gradient = plan.grads[selection.details.name];
      if (gradient) parts.push(part(`Gradient of ${selection.details.name}`, typeof gradient === 'string' ? blobRef(gradient) : h('span', 'rows ', blobRef(gradient.indices), ', values ', blobRef(gradient.values)),
        h('p.hint', 'from one operator, nothing is added up')));
    }
    selected.replaceChildren(...parts);
    selected.classList.toggle('hidden', alone || parts.length === 0);
  }
  const tree = (sum: Sum): HTMLElement => h('ul.sumtree', h('li', blobRef(sum.blob, sum.version), opRef(sum.op, sum.type)),
    h('ul', ...sum.parts.map((p) => h('li', blobRef(p.blob, p.version), p.type ? opRef(p.op, p.type) : h('span.faint', 'from outside')))));

  function showLikely(): void {
    const chosen = losses.get();
    const all = suggestion?.losses.filter((l) => !chosen.includes(l.loss)) ?? [];
    const good = all.filter((l) => l.likely), offered = (good.length > 0 || chosen.length > 0 ? good : all).slice(0, 8);
    likely.replaceChildren(...(offered.length > 0 ? [good.length > 0 ? 'Likely:' : 'Nobody reads:', ...offered.map((l) => h('button.ref', { title: l.why, onclick: () => {
      losses.set([...losses.get(), l.loss]);
      edited();
    } }, l.loss))] : []));
  }

  /** `now`: and plans it. A net that comes while the panel is open waits until somebody asks. */
  async function begin(net: NetInfo, now: boolean): Promise<void> {
    base = net;
    suggestion = plan = failure = null;
    repair = alone = false;
    made = -1;
    for (const list of [losses, stops, frozen, wrt]) list.set([]);
    mixed.value = dedup.value = '';
    stored.replaceChildren();
    command.replaceChildren();
    progress.clear();
    show();
    showLikely();
    let source;
    try {
      source = workshop.fileOf(net);
    } catch (error) {
      return progress.fail((error as Error).message);
    }
    const found = await progress.follow('Looking for losses', workshop.command.json<Suggestion>(['grad', source.word, '--suggest'], [source.file]));
    if (!found || base !== net) return;
    suggestion = found.value;
    const had = suggestion.stored;
    losses.set(had ? had.losses : suggestion.losses.filter((l) => l.likely).map((l) => l.loss));
    const ask = (what: string) => h('button.quiet', { onclick: () => {
      stored.classList.toggle('hidden', !had);
      void run();
    } }, what);
    if (had) stored.replaceChildren(`The net has a backward pass, operators ${digits(had.begin)} to ${digits(had.end - 1)}. `, ask('Plan it again'));
    else stored.replaceChildren(ask('Plan the backward pass'));
    stored.classList.toggle('hidden', !had && (now || losses.get().length === 0));
    showLikely();
    show();
    // A pass that is there already is planned again only when somebody asks.
    if (!had && now) await run();
  }

  app.on(['selection'], () => {
    if (element.isConnected && plan) showSelected();
  });
  return {
    element,
    update: (opens: boolean) => {
      const net = workshop.base();
      if (net && net.id !== base?.id) void begin(net, opens);
      else if (repair && plan && made >= 0 && !app.state.preview) { // discarded: what stood in the way does so again
        repair = alone = false;
        made = -1;
        void run();
      }
      else if (plan && asked.join(' ') !== words().join(' ')) void run(); // more is known of shapes
      else show();
    },
  };
}

export const gradientsTool: Tool = {
  id: 'gradients', title: 'Gradients', what: 'The backward pass, as one chooses', icon: 'M4 2v12M4 14l-2.5-3M4 14l2.5-3M12 14V2M12 2L9.5 5M12 2l2.5 3', make,
};
