// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Running the net: what it is fed, what becomes of it iteration by iteration and operator by operator, where numbers first
// stop being finite, whether gradients are right.

import './run.css';
import type { NetInfo } from '../../../wasm/weft.d.ts';
import type { App } from '../app.ts';
import type { File as Given } from '../command.ts';
import { WeftError } from '../engine.ts';
import { count, digits, h } from '../dom.ts';
import { saveFile } from '../files.ts';
import { type Element, type Numbers, ValueList, histogram, lineChart, shapeText, short, statistics, strip } from './numbers.ts';
import { Progress, type Tool, asCommand, names, part } from './tool.ts';

interface Input { blob: string; from: 'init' | 'feed' | 'made' | 'nothing'; type: string; shape: number[] | null; found: boolean; fill: string; op: number; op_type: string }
interface Output extends Numbers { blob: string; version: number; values: Element[]; holds?: string }
interface Step { op: number; type: string; outputs: Output[] }
interface NotFinite { blob: string; version: number; op: number; type: string; iteration: number; nan: number; inf: number; elements: number }
interface Series { min: (number | null)[]; max: (number | null)[]; mean: (number | null)[] }
interface Ran {
  iters: number; watched: Record<string, (number | null)[]>; statistics?: Record<string, Series>;
  not_finite: NotFinite[]; stopped: boolean; trace: { iteration: number; ops: Step[] };
}
interface Fetched { fetched: Record<string, { shape: number[]; values: Element[] }> }
interface Checked { ok: boolean; loss: number; tolerance: number; precision: string; unplanned: string[]; blobs: Record<string, { worst: number | null; checked: number; elements: number; at?: number[]; planned?: number; numeric?: number }> }
/** What somebody said of an input. */
interface Said { fill?: string; shape?: string; file?: Given }

const FILLS = ['zeros', 'ones', 'uniform', 'normal', 'digits'];
const MAX_ROWS = 24, MAX_MARKED = 40;

function make(app: App) {
  const { command } = app.workshop;
  const lookProgress = new Progress(), progress = new Progress(), valueProgress = new Progress(), checkProgress = new Progress();
  let base: NetInfo | null = null, filler: NetInfo | null = null, inputs: Input[] = [], said = new Map<string, Said>(), ran: Ran | null = null, words: string[] = [], at = 0;

  // What the net is fed.

  const rows = h('div.inputs'), filled = h('p.hint');
  const rest = h('select', { 'aria-label': 'Numbers for all other inputs', onchange: () => void look() }, ...FILLS.map((fill) => h('option', { value: fill }, fill)));
  rest.value = 'uniform';
  const iterations = h('input.short', { type: 'number', min: '1', value: '10', 'aria-label': 'Iterations' });
  const seed = h('input.short', { type: 'number', min: '0', value: '1', 'aria-label': 'Seed' });
  const stopAtNan = h('input', { type: 'checkbox' });
  const init = () => base && app.workshop.initOf(base);
  const fed = () => [...said].filter(([, s]) => s.file);
  const files = (): Given[] => {
    const of = base && app.workshop.fileOf(base), fills = init();
    return [...new Set([...(of ? [of.file] : []), ...(fills ? [app.workshop.fileOf(fills).file] : []), ...fed().map(([, s]) => s.file as Given)])];
  };
  /** What every command about the net begins with. */
  const setup = (verb: string, general = rest.value): string[] => {
    const fills = init();
    return [verb, base ? app.workshop.fileOf(base).word : '', ...(fills ? ['--init', app.workshop.fileOf(fills).word] : []),
      ...[...said].flatMap(([blob, { fill, shape, file }]) => (file ? ['--feed', `${blob}=${file.name}`] : [...(shape ? ['--shape', `${blob}=${shape}`] : []), ...(fill ? ['--fill', `${blob}=${fill}`] : [])])),
      ...(general ? ['--fill', general] : []), ...(seed.value !== '1' ? ['--seed', seed.value] : [])];
  };
  let looking = 0;
  const look = async () => {
    const mine = ++looking;
    if (!base) return;
    const told = await lookProgress.follow('Reading', command.json<{ inputs: Input[] }>([...setup('run'), '--inputs'], files()));
    if (!told || mine !== looking) return;
    inputs = told.value.inputs;
    const open = inputs.filter((input) => input.from !== 'init'), known = inputs.length - open.length, fills = init();
    rows.replaceChildren(...open.slice(0, MAX_ROWS).map(inputRow), ...(open.length > MAX_ROWS ? [h('p.hint', `and ${count(open.length - MAX_ROWS, 'other')}, made like the rest`)] : []));
    filled.textContent = known > 0 && fills ? `${count(known, 'blob')} filled by ${fills.name || app.workshop.fileOf(fills).word}.`
      : open.length > 4 && !fills ? 'No init net for this net is open: its parameters are made like the rest. Drop the init net to run with its own.' : '';
    const floats = inputs.filter((input) => input.type === 'float' && input.from !== 'feed').map((input) => input.blob);
    if (wrt.get().some((name) => !floats.includes(name))) wrt.set([]);
  };
  const say = (blob: string, what: Said) => {
    const { file, ...others } = { ...said.get(blob), ...what };
    said.set(blob, file ? { file } : others);
    if (!go.disabled) progress.clear(); // what was refused may be right now
    void look();
  };
  const feed = (blob: string, file: File) => {
    const taken = new Set([...app.workshop.files().map((f) => f.name), ...fed().filter(([b]) => b !== blob).map(([, s]) => s.file?.name)]);
    let name = file.name.replaceAll('/', '_');
    while (taken.has(name)) name = `fed-${name}`;
    said.set(blob, { file: { name, blob: file } });
  };
  const inputRow = (input: Input): HTMLElement => {
    const mine = said.get(input.blob), file = mine?.file;
    const own = mine?.fill ?? '';
    const picker = h('input.hidden', { type: 'file', accept: '.npy', onchange: () => {
      const chosen = picker.files?.[0];
      if (!chosen) return;
      feed(input.blob, chosen);
      void look();
    } });
    const how = h('select', { 'aria-label': `Numbers for ${input.blob}`, onchange: () => {
      if (how.value === 'file') return picker.click();
      if (how.value === 'below') return say(input.blob, { fill: 'below:10', file: undefined });
      say(input.blob, { fill: how.value || undefined, file: undefined });
    } }, h('option', { value: '' }, own ? 'like the rest' : input.fill), ...FILLS.filter((f) => own || f !== input.fill).map((f) => h('option', { value: f }, f)),
      h('option', { value: own.startsWith('below') ? own : 'below' }, own.startsWith('below') ? own.replace(':', ' ') : 'below 10'), h('option', { value: 'file' }, file ? file.name : '.npy file…'));
    how.value = file ? 'file' : own;
    const shape = h('input.mono', { 'aria-label': `Shape of ${input.blob}`, value: input.shape?.join(',') ?? '', placeholder: '8,1,28,28', spellcheck: false, disabled: !!file,
      title: input.found ? 'A shape that fits the net' : '', onchange: () => say(input.blob, { shape: shape.value.trim() ? `${shape.value.replaceAll(/\s/g, '')}${shape.value.includes(':') ? '' : `:${input.type}`}` : undefined }) });
    const remedy = input.shape || file ? null : h('p.bad', 'No shape fits that we know: say one.');
    return h('div.input', { 'data-blob': input.blob }, h('div.name', h('button.mono', { title: 'Show it', onclick: () => void jumpBlob(input.blob) }, input.blob), h('span.fainter', input.type, input.op_type ? `, read by ${input.op_type}` : '')), shape, how, picker, remedy);
  };
  const jumpBlob = async (blob: string) => {
    if (base && app.state.view?.net.id !== base.id) await app.show(base.id);
    await app.selectBlobNamed(blob, undefined, { reveal: true });
  };
  const jump = async (op: number) => {
    if (base && app.state.view?.net.id !== base.id) await app.show(base.id);
    await app.selectOp(op, { reveal: true });
  };

  // Running.

  const watch = names('Watch over iterations', 'a blob of any size', () => blobs(), () => {});
  const blobs = () => [...new Set([...inputs.map((input) => input.blob), ...(ran?.trace.ops.flatMap((step) => step.outputs.map((o) => o.blob)) ?? [])])];
  const results = h('div.results.hidden'), line = h('div');
  const go = h('button.go', { onclick: () => void run() }, 'Run');
  const run = async () => {
    if (!base) return;
    words = [...setup('run'), '--iters', iterations.value || '1', ...watch.get().flatMap((blob) => ['--stats', blob])];
    const asked = [...words, '--trace', ...(stopAtNan.checked ? ['--stop-at-nan'] : [])];
    line.replaceChildren(asCommand(asked));
    go.disabled = true;
    const task = command.json<Ran>(asked, files());
    // The operator that refused is where to look.
    task.result.catch((error: unknown) => {
      if (error instanceof WeftError && error.failure.op >= 0 && /^(iteration \d+: )?op /.test(error.message)) void jump(error.failure.op);
    });
    const told = await progress.follow(`Running ${count(Number(iterations.value) || 1, 'iteration')}`, task);
    go.disabled = false;
    if (told) show(told.value);
  };

  const charts = h('div'), bad = h('div'), now = h('div'), steps = h('input.steps', { type: 'range', min: '0', 'aria-label': 'Operator', oninput: () => step(Number(steps.value)) });
  const where = h('p.where'), fetched = h('div');
  const show = (value: Ran) => {
    ran = value;
    results.dataset.runs = String(Number(results.dataset.runs ?? 0) + 1); // for those who wait
    results.classList.remove('hidden');
    // What moves comes first.
    const moving = (series: (number | null)[]) => series.some((v) => v === null || v !== series[0]);
    const series = Object.entries(value.watched).sort(([, a], [, b]) => Number(moving(b)) - Number(moving(a)));
    charts.replaceChildren(...Object.entries(value.statistics ?? {}).map(([blob, s]) => lineChart(blob, s.mean, s)),
      ...series.filter(([, s], i) => moving(s) || i === 0 || value.iters < 2).slice(0, 12).map(([blob, s]) => lineChart(blob, s)));
    const first = value.not_finite[0];
    bad.replaceChildren(first
      ? h('div.firstnan', { role: 'alert' }, h('p', h('b', `First ${first.nan > 0 ? 'NaN' : 'infinity'}: `), h('button.mono', { onclick: () => void jump(first.op) }, `op ${first.op} ${first.type}`), ` writes ${first.blob}@${first.version} in iteration ${first.iteration}`),
        h('p.hint', `${digits(first.nan + first.inf)} of ${digits(first.elements)} elements${value.stopped ? '; the run was stopped there' : ''}`))
      : h('p.hint', 'All values were finite in all iterations.'),
    ...(value.not_finite.length > 1 ? [h('ol.then', ...value.not_finite.slice(1, 40).map((f) => h('li', h('button.mono', { onclick: () => void jump(f.op) }, `op ${f.op} ${f.type}`), ` ${f.blob}@${f.version}`, f.iteration === first?.iteration ? '' : ` in iteration ${f.iteration}`)),
      value.not_finite.length > 40 ? h('li.hint', `and ${value.not_finite.length - 40} more`) : null)] : []));
    steps.max = String(Math.max(0, value.trace.ops.length - 1));
    overlay.show(value.not_finite.map((f) => f.op));
    step(first ? Math.max(0, value.trace.ops.findIndex((s) => s.op === first.op)) : Math.min(at, value.trace.ops.length - 1));
  };

  // One operator after another.

  let following = 0;
  const step = (to: number, select = true) => {
    const step_ = ran?.trace.ops[to];
    if (!step_) return;
    at = to;
    steps.value = String(to);
    where.replaceChildren(h('b', step_.type), h('span.faint', ` op ${step_.op} of ${ran?.trace.ops.length}, iteration ${ran?.trace.iteration}`));
    now.replaceChildren(...step_.outputs.map(outputPart));
    if (!select) return;
    cancelAnimationFrame(following);
    following = requestAnimationFrame(() => void jump(step_.op));
  };
  const outputPart = (o: Output) => h('div.output', h('div.name', h('button.mono', { onclick: () => void jumpBlob(o.blob) }, `${o.blob}@${o.version}`), h('span.fainter', o.holds ?? `${o.type} ${shapeText(o.shape)}`)),
    ...(o.holds || o.type === 'string' ? [] : o.elements === 1 ? [h('p.mono', short(typeof o.values[0] === 'number' ? o.values[0] : null))] : [statistics(o), histogram(o), strip(o.values) ?? '']),
    o.holds ? null : h('button.quiet', { onclick: () => void fetchAll(o.blob) }, 'All values'));
  app.on(['selection'], () => {
    const { selection, view } = app.state;
    if (!ran || selection?.what !== 'op' || view?.net.id !== base?.id || results.offsetParent === null) return;
    const to = ran.trace.ops.findIndex((s) => s.op === selection.op);
    if (to >= 0 && to !== at) step(to, false);
  });

  // All of a blob, as the run leaves it.

  const fetchAll = async (blob: string) => {
    const asked = [...words, '--fetch', blob];
    const told = await valueProgress.follow(`Running for ${blob}`, command.json<Fetched>(asked, files()));
    const got = told?.value.fetched[blob];
    if (!got) return;
    const list = new ValueList(async (from) => got.values.slice(from, from + ValueList.chunk).map((v) => v ?? 'nan'));
    const save = async () => {
      const made = await valueProgress.follow('Running', command.json([...asked, '--out', 'fetched'], files()));
      for (const { name, bytes } of made?.files ?? []) saveFile(name.split('/').at(-1) ?? name, new Blob([bytes as Uint8Array<ArrayBuffer>]));
    };
    fetched.replaceChildren(part('Values', h('div.name', h('span.mono', blob), h('span.fainter', `${shapeText(got.shape)}, at the end of the run`)), list.element, h('div', h('button.quiet', { onclick: () => void save() }, 'Save .npy'))));
    list.show(got.shape, got.values.length, got.values.slice(0, ValueList.chunk).map((v) => v ?? 'nan'));
    fetched.scrollIntoView({ block: 'nearest' });
  };

  // Gradients.

  const loss = names('Loss', 'what to differentiate', () => blobs(), () => {});
  const wrt = names('Parameters', 'all that are floats', () => inputs.filter((input) => input.type === 'float').map((input) => input.blob), () => {});
  const verdicts = h('div');
  const check = async () => {
    if (loss.get().length === 0) loss.set(Object.keys(ran?.watched ?? {}).filter((blob) => /loss$/i.test(blob)).slice(0, 1));
    if (loss.get().length === 0) return checkProgress.fail('Name the loss.');
    const asked = [...setup('gradcheck'), ...loss.get().flatMap((blob) => ['--loss', blob]), ...wrt.get().flatMap((blob) => ['--wrt', blob]), '--samples', '12'];
    const told = await checkProgress.follow('Checking gradients', command.json<Checked>(asked, files()));
    if (!told) return verdicts.replaceChildren();
    const { blobs: each, tolerance, precision, unplanned } = told.value;
    verdicts.replaceChildren(h('table.verdicts', h('tr', h('th', 'Parameter'), h('th', 'Error'), h('th', 'Checked'), h('th', '')), ...Object.entries(each).map(([blob, r]) => {
      const right = r.worst !== null && r.worst <= tolerance;
      return h('tr' + (right ? '' : '.wrong'), h('td.mono', h('button', { onclick: () => void jumpBlob(blob) }, blob)), h('td', short(r.worst)), h('td', `${digits(r.checked)} of ${digits(r.elements)}`),
        h('td', { title: right || !r.at ? '' : `${shapeText(r.at)}: planned ${r.planned}, differences say ${r.numeric}` }, right ? 'right' : 'wrong'));
    })), h('p.hint', `Against central differences in ${precision}; right within ${tolerance}.${unplanned.length ? ` No gradient is planned for ${unplanned.join(', ')}.` : ''}`), asCommand(asked));
  };

  // Drops land on the inputs of their name, or on the first that is open.
  const element = h('div.run', part('Inputs', rows, lookProgress.element, h('label.rest', h('span.field', 'Everything else that nothing gives'), rest), filled),
    part('Run', h('div.how', h('label', h('span.field', 'Iterations'), iterations), h('label', h('span.field', 'Seed'), seed), h('label.check', stopAtNan, ' Stop at the first NaN')), watch.element, h('div.start_', go), progress.element, line), results);
  results.append(part('Over the iterations', charts), part('Finite?', bad), part('Operator by operator', where, steps, now), fetched, valueProgress.element,
    part('Check gradients', loss.element, wrt.element, h('div', h('button.quiet', { onclick: () => void check() }, 'Check')), checkProgress.element, verdicts));
  for (const type of ['dragenter', 'dragover', 'drop']) element.addEventListener(type, (event) => {
    const transfer = (event as DragEvent).dataTransfer, dropped = [...(transfer?.files ?? [])].filter((file) => file.name.endsWith('.npy'));
    if (type !== 'drop' || dropped.length === 0) return;
    event.preventDefault();
    event.stopPropagation();
    document.body.classList.remove('dragging');
    const open = inputs.filter((input) => input.from !== 'init').map((input) => input.blob), over = (event.target as HTMLElement).closest<HTMLElement>('[data-blob]')?.dataset.blob;
    for (const file of dropped) {
      const named = file.name.slice(0, -4), blob = open.find((b) => b.replaceAll('/', '__') === named) ?? over ?? open.find((b) => !said.get(b)?.file);
      if (blob) feed(blob, file);
    }
    void look();
  });

  const overlay = redBoxes(app, () => app.state.view?.net.id === base?.id && element.offsetParent !== null);
  return {
    element,
    update: () => {
      const next = app.workshop.base(), changed = next?.id !== base?.id, fills = next && app.workshop.initOf(next);
      if (!changed && fills?.id === filler?.id) return;
      filler = fills;
      if (changed) {
        [base, said, ran, at] = [next, new Map(), null, 0];
        results.classList.add('hidden');
        overlay.show([]);
        for (const list of [watch, loss, wrt]) list.set([]);
        for (const child of [line, fetched, verdicts, rows]) child.replaceChildren();
      }
      void look();
    },
  };
}

/** Frames around operators in the graph, which keep to their boxes while it moves. */
function redBoxes(app: App, visible: () => boolean): { show(ops: number[]): void } {
  const layer = h('div.redboxes', { 'aria-hidden': 'true' });
  let ops: number[] = [], frame = 0;
  const place = () => {
    frame = ops.length > 0 ? requestAnimationFrame(place) : 0;
    const shown = visible();
    layer.classList.toggle('hidden', !shown);
    if (!shown) return;
    ops.forEach((op, i) => {
      const box = layer.children[i] as HTMLElement, rect = app.render.opRect(op);
      box.classList.toggle('hidden', !rect);
      if (!rect) return;
      const from = app.view.toScreen(rect.x, rect.y), to = app.view.toScreen(rect.x + rect.w, rect.y + rect.h);
      box.style.transform = `translate(${from.x - 3}px, ${from.y - 3}px)`;
      box.style.width = `${to.x - from.x + 6}px`;
      box.style.height = `${to.y - from.y + 6}px`;
    });
  };
  return {
    show: (next) => {
      if (!layer.isConnected) app.view.canvas.parentElement?.append(layer);
      ops = [...new Set(next)].slice(0, MAX_MARKED);
      layer.replaceChildren(...ops.map((_, i) => h('i' + (i === 0 ? '.first' : ''))));
      cancelAnimationFrame(frame);
      place();
    },
  };
}

export const runTool: Tool = {
  id: 'run', title: 'Run', what: 'Run the net and look at its numbers', icon: 'M5 3l8 5-8 5z', make,
};
