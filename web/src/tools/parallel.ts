// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A data-parallel net by device: what each does, which differ, what moves between them and to other machines. And the
// making of one from a net for one device.

import './parallel.css';
import type { NetInfo } from '../../../wasm/weft.d.ts';
import type { App } from '../app.ts';
import type { File } from '../command.ts';
import { bytes, count, digits, h } from '../dom.ts';
import { VirtualList } from '../virtual_list.ts';
import { asCommand, names, part, Progress, type Tool } from './tool.ts';

interface OpText { op: number; text: string }
interface Device {
  name: string; operators: number; forward: number; backward: number; update: number; collective: number;
  same_as: string; differing: number; first_difference: { here: OpText | null; there: OpText | null } | null;
}
interface Moving { op: number; type: string; blob: string; local_bytes: number | null; network_bytes: number | null }
interface Report {
  devices: Device[]; shared: number; shards: number; moving: Moving[];
  moved: { local_bytes: number; network_bytes: number; unknown: number };
}
interface Collective { type: string; ops: number; local_bytes: number; network_bytes: number; seconds: number }
interface Ranks { ranks: number; machines: number; compute: number; communication: number; hidden: number; step: number; efficiency: number; unknown: number }
interface Planned {
  nets: Record<string, number>; params: string[]; moved: Report['moved'] & { by_type: Collective[] }; ranks: Ranks[];
}

const ROW = 22;

/** Seconds as milliseconds, four digits. */
const ms = (seconds: number) => { const n = seconds * 1e3; return n === 0 ? '0' : n >= 1000 ? digits(Math.round(n)) : n >= 100 ? n.toFixed(1) : n.toFixed(2); };

/** What a step takes on more devices, and what moves in it by kind of operator. */
const prediction = ({ ranks, moved }: Planned) => {
  const table = (name: string, heads: string[], rows: (string | HTMLElement)[][]) => h(`table.devices.${name}`,
    h('thead', h('tr', ...heads.map((head) => h('th', { scope: 'col' }, head)))), h('tbody', ...rows.map((row) => h('tr', ...row.map((cell) => h('td', cell))))));
  const unknown = Math.max(0, ...ranks.map((row) => row.unknown));
  return [
    ...(ranks.length > 0 ? [h('h4', 'A step on so many devices, in ms'),
      table('ranks', ['Devices', 'Compute', 'Exchange', 'Hidden', 'Step', 'Efficiency'],
        ranks.map((row) => [digits(row.ranks), ms(row.compute), ms(row.communication), ms(row.hidden), ms(row.step), `${(row.efficiency * 100).toFixed(1)} %`])),
      ...(unknown > 0 ? [h('p.hint', `Up to ${count(unknown, 'operator')} of unknown cost count as nothing.`)] : [])]
      : [h('p.hint', "With the inputs' shapes, given in Shapes, the time of a step is predicted for up to 512 devices.")]),
    ...(moved.by_type.length > 0 ? [h('h4', 'What moves, by kind of operator'),
      table('bytype', ['', 'Operators', 'Devices', 'Network', 'ms'], moved.by_type.map((row) => [h('code', row.type), digits(row.ops), bytes(row.local_bytes), bytes(row.network_bytes), ms(row.seconds)]))] : []),
  ];
};

function make(app: App) {
  const progress = new Progress(), making = new Progress();
  const devices = h('div'), differences = h('div'), totals = h('p.hint'), line = h('div'), made = h('div');
  let moving: Moving[] = [], key = '', timer = 0, lossesOf = -1;
  const select = (op: number) => void app.selectOp(op).then(() => app.revealFully());
  const list = new VirtualList('moving', ROW, (first, rows) => moving.slice(first, first + rows).map((m) => {
    const size = (n: number | null) => h('span.n', n === null ? '?' : n === 0 ? '' : bytes(n));
    return h('button.moved', { onclick: () => select(m.op), title: `${m.type} ${m.op}  ${m.blob}` }, h('span.i', m.op), h('span', m.type), h('span.blob', m.blob), size(m.local_bytes), size(m.network_bytes));
  }));
  const machines = h('input', { type: 'number', min: '1', 'aria-label': 'Machines', placeholder: 'as in the net', oninput: () => later() });
  const base = () => app.workshop.base();
  /** As given in the tool for shapes. */
  const shapes = () => app.measures.asked().flatMap((word, i, words) => (word === '--input' ? [word, words[i + 1] ?? ''] : []));

  const later = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => void look(), 250);
  };
  const withInit = (net: NetInfo) => {
    const { word, file } = app.workshop.fileOf(net), init = app.workshop.initOf(net);
    const other = init && app.workshop.fileOf(init);
    const files: File[] = [file, ...(other && other.file !== file ? [other.file] : [])];
    return { word, init: other?.word ?? null, files };
  };
  const look = async () => {
    const net = base();
    if (!net) return;
    try {
      const { word, init, files } = withInit(net);
      const words = ['devices', word, ...(init ? ['--init', init] : []), ...shapes(), ...(machines.value ? ['--shards', machines.value] : [])];
      line.replaceChildren(asCommand(words));
      const told = await progress.follow('Comparing devices', app.workshop.command.json<Report>(words, files));
      if (told) show(told.value);
    } catch (error) {
      progress.fail((error as Error).message);
    }
  };

  const show = (report: Report) => {
    const many = report.devices.length > 1;
    devices.replaceChildren(many ? h('table.devices', h('thead', h('tr', ...['', 'Operators', 'Forward', 'Backward', 'Update', 'Same as'].map((head) => h('th', head)))),
      h('tbody', ...report.devices.map((d) => h('tr' + (d.first_difference ? '.differs' : ''), h('td', h('code', d.name)), ...[d.operators, d.forward, d.backward, d.update].map((n) => h('td.n', digits(n))), h('td', d.same_as === d.name ? '' : h('code', d.same_as))))))
      : h('p.hint', 'This net is for one device: no names in scopes such as gpu_0/ and gpu_1/. Below, nets for many are made of it.'),
      many ? h('p.hint', `${count(report.shared, 'operator')} of no device, or of several.`) : '');
    const first = report.devices[0]?.name ?? '';
    const op = (which: OpText | null, device: string) => h('div.op', h('code.who', device), which ? h('button.ref', { onclick: () => select(which.op) }, h('span.v', which.op, ' '), which.text) : h('span.faint', 'nothing more'));
    differences.replaceChildren(...report.devices.filter((d) => d.first_difference).map((d) => h('div.difference',
      h('p', h('b', d.name), ` is not the same as ${first}: `, d.differing > 0 ? `${count(d.differing, 'operator')} of it without an equal. The first:` : 'the order differs. First here:'),
      op(d.first_difference?.here ?? null, d.name), op(d.first_difference?.there ?? null, first))));
    for (const element of [differencesPart, movingPart]) element.classList.toggle('hidden', element === differencesPart ? differences.childElementCount === 0 : !many);
    moving = report.moving;
    list.element.style.height = `${Math.min(moving.length, 14) * ROW}px`;
    list.setCount(moving.length);
    list.element.scrollTo({ top: 0 });
    const { local_bytes, network_bytes, unknown } = report.moved;
    totals.replaceChildren(moving.length === 0 ? 'Nothing moves between devices.' : h('span', 'An iteration moves ', h('b', bytes(local_bytes)), ' between devices and sends ', h('b', bytes(network_bytes)), ` to other machines, of ${digits(report.shards)} in all.`,
      unknown > 0 ? ` ${count(unknown, 'operator')} of unknown size (?) not counted: open the init net, or give the inputs' shapes in Shapes.` : ''));
  };
  const differencesPart = part('Replicas that differ', differences);
  const movingPart = part('What moves', h('div.moved.head', h('span.i', ''), h('span', ''), h('span', ''), h('span.n', 'devices'), h('span.n', 'network')), list.element, totals,
    h('label.entry', h('span.field', 'Machines'), machines));
  for (const element of [differencesPart, movingPart]) element.classList.add('hidden');

  // Making nets for many devices.

  const where = h('input.mono', { value: 'cuda:0-1', 'aria-label': 'Devices', spellcheck: false });
  const optimizer = h('input.mono', { value: 'sgd:base_lr=0.1', 'aria-label': 'Optimizer', placeholder: 'none: forward only', spellcheck: false });
  const shards = h('input', { type: 'number', min: '1', value: '1', 'aria-label': 'Machines of the plan' });
  const iterations = h('input', { type: 'number', min: '1', value: '1', 'aria-label': 'Iterations' });
  const bucket = h('input', { type: 'number', min: '1', 'aria-label': 'Megabytes of gradients summed at once', placeholder: 'each gradient by itself' });
  const hardware = h('input.mono', { 'aria-label': 'Hardware', placeholder: 'flops=1e13,bandwidth=5e10', spellcheck: false, title: 'Of a device and its links, as weft parallel --hardware takes them: flops, memory, latency, bandwidth, net_latency, net_bandwidth, algorithm' });
  const losses = names('Losses', 'loss', () => lossNames, () => tell());
  const nccl = h('input', { type: 'checkbox', onchange: () => tell() }), share = h('input', { type: 'checkbox', onchange: () => tell() });
  const deal = h('input', { type: 'checkbox', onchange: () => tell() });
  const go = h('button.go', { onclick: () => void plan() }, 'Make the nets'), planLine = h('div');
  let lossNames: string[] = [];
  const trains = () => optimizer.value.trim() !== '';
  const planWords = () => {
    const net = base();
    if (!net) return null;
    const { word, init, files } = withInit(net);
    if (!init) throw new Error('Open the init net too: it makes the parameters that each device gets.');
    const words = ['parallel', '--init', init, '--net', word, ...losses.get().flatMap((loss) => ['--loss', loss]), '--devices', where.value.trim(),
      ...(trains() ? ['--optimizer', optimizer.value.trim(), ...(nccl.checked ? ['--nccl'] : []), ...(share.checked ? ['--share-gradients'] : []),
        ...(deal.checked ? ['--shard-optimizer'] : []), ...(Number(bucket.value) > 0 ? ['--bucket-bytes', String(Number(bucket.value) * 1e6)] : [])] : []),
      ...(Number(shards.value) > 1 ? ['--shards', shards.value] : []), ...(Number(iterations.value) > 1 ? ['--iterations', iterations.value] : []),
      ...shapes(), ...(hardware.value.trim() ? ['--hardware', hardware.value.trim()] : []), '-o', 'parallel'];
    return { words, files };
  };
  const tell = () => {
    for (const input of [nccl, share, deal, bucket]) input.disabled = !trains(); // they are about gradients
    try {
      const asked = planWords();
      planLine.replaceChildren(...(asked ? [asCommand(asked.words)] : []));
      go.disabled = !asked;
    } catch (error) {
      planLine.replaceChildren(h('p.hint', (error as Error).message));
      go.disabled = true;
    }
  };
  const plan = async () => {
    const asked = planWords();
    if (!asked) return;
    made.replaceChildren();
    const told = await making.follow('Making the nets', app.workshop.command.json<Planned>(asked.words, asked.files));
    if (!told) return;
    const { value, files } = told;
    const file = files.find((f) => f.name === 'parallel/plan.pbtxt');
    const flat = (name: string) => name.replace('parallel/', `${where.value.trim().replaceAll(/[^\w-]+/g, '_')}-`);
    const blobs = files.map((f) => ({ name: flat(f.name), blob: new Blob([f.bytes as Uint8Array<ArrayBuffer>]) }));
    const text = file ? await making.follow('Reading the plan', app.workshop.command.run(['print', 'plan.pbtxt', '--steps'], [{ name: 'plan.pbtxt', blob: new Blob([file.bytes as Uint8Array<ArrayBuffer>]) }])) : null;
    const steps = h('pre.steps', text?.out ?? '');
    made.replaceChildren(steps, h('table.devices', h('tbody', ...Object.entries(value.nets).map(([name, operators]) => h('tr', h('td', h('code', name)), h('td.n', count(operators, 'operator')))))),
      h('p.hint', `${count(value.params.length, 'parameter')} on all devices. An iteration moves ${bytes(value.moved.local_bytes)} between devices and sends ${bytes(value.moved.network_bytes)} to other machines`,
        value.moved.unknown > 0 ? `, beside what ${count(value.moved.unknown, 'operator')} of unknown size move.` : '.'),
      ...prediction(value), h('div.row', h('button.go', { onclick: () => void app.workshop.openMade('made for many devices', blobs, asked.words) }, 'Open them')));
    made.scrollIntoView({ block: 'nearest' });
  };
  for (const input of [where, optimizer, shards, iterations, bucket, hardware]) input.addEventListener('input', tell);
  const labelled = (label: string, input: HTMLElement) => h('label.entry', h('span.field', label), input);
  const check = (box: HTMLElement, label: string) => h('label.check', box, label);

  const update = () => {
    const net = base(), now = net ? `${net.document}/${net.id}/${app.state.nets.length}/${shapes().join()}` : '';
    tell();
    if (now === key) return;
    key = now;
    made.replaceChildren();
    making.clear();
    lossNames = [];
    if (net && net.id !== lossesOf) {
      losses.set([]);
      tell();
    }
    lossesOf = net?.id ?? -1;
    void look();
    // What could be a loss: what the net gives, or what is named like one.
    if (net && losses.get().length === 0) void app.engine.ask('findBlob', net.id, 'loss').then(() => losses.get().length === 0 && (losses.set(['loss']), tell()), () => {});
  };
  return {
    element: h('div.parallel', progress.element, part('Devices', devices), differencesPart, movingPart, line,
      part('Make nets for many devices', h('p.hint', 'The shown net and its init net, built again for each device; gradients are summed over devices and machines, parameters start equal.'),
        labelled('Devices', where), losses.element, labelled('Optimizer', optimizer), labelled('Machines', shards), labelled('Iterations', iterations), labelled('Bucket, MB', bucket), labelled('Hardware', hardware),
        check(nccl, 'sum gradients with NCCL'), check(share, 'gradients share memory'), check(deal, 'optimizer state dealt to the devices'), planLine, go, making.element, made)),
    update,
  };
}

export const parallelTool: Tool = {
  id: 'parallel', title: 'Parallel', what: 'Devices of a data-parallel net, and making one', icon: 'M3 2v12M8 2v12M13 2v12M3 6h10M3 10h10', make,
};
