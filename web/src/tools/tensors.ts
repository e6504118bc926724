// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What init nets and files of weights hold, tensor by tensor; and what nets read that nothing gives.

import './tensors.css';
import type { App } from '../app.ts';
import type { File } from '../command.ts';
import { bytes, count, h } from '../dom.ts';
import { saveFile } from '../files.ts';
import { VirtualList } from '../virtual_list.ts';
import { type Element, type Numbers, ValueList, histogram, shapeText, statistics, strip } from './numbers.ts';
import { Progress, type Tool, asCommand, part } from './tool.ts';

interface Item { name: string; type: string; shape: number[] | null; bytes: number | null; made_by: string; held: boolean; op: number | null; net: string }
interface Listed { file: string; tensors: Item[]; held_bytes: number; made_bytes: number }
interface One { tensor: Item; numbers: Numbers; from: number; values: Element[] }
interface Missing { code: string; severity: string; message: string; blob: string; remedy: string; net: string }

function make(app: App) {
  const { command } = app.workshop;
  const progress = new Progress(), oneProgress = new Progress();
  const choose = h('select', { 'aria-label': 'File', onchange: () => void list() });
  const filter = h('input.mono', { 'aria-label': 'Filter', placeholder: 'Filter by name', spellcheck: false, oninput: () => narrow() });
  const total = h('p.hint'), one = h('section.hidden'), missing = h('div');
  let items: Item[] = [], shown: Item[] = [], chosen = '', files: File[] = [];
  const rows = new VirtualList('tensorlist', 38, (first, n) => shown.slice(first, first + n).map(row));
  rows.element.setAttribute('aria-label', 'Tensors');
  const values = new ValueList(async (from) => (await ask(chosen, from).result).value.values);

  const file = () => files.find((f) => f.name === choose.value);
  const wordsFor = (name: string) => ['tensors', choose.value, '--tensor', name];
  const ask = (name: string, from: number) => command.json<One>([...wordsFor(name), '--from', String(from), '--count', String(ValueList.chunk)], files);
  const row = (item: Item) => h('button.line', { 'aria-pressed': String(item.name === chosen), onclick: () => void pick(item) },
    h('span.mono', item.name), h('span.size', item.bytes === null ? '' : bytes(item.bytes)),
    h('span.what', item.shape ? `${item.type} ${shapeText(item.shape)}` : item.type), h('span.by', item.held ? item.made_by : `made by ${item.made_by}`));
  const narrow = () => {
    const wanted = filter.value.toLowerCase();
    shown = items.filter((item) => item.name.toLowerCase().includes(wanted));
    rows.element.style.height = `${Math.min(Math.max(shown.length, 1), 8) * 38}px`;
    rows.setCount(shown.length);
  };

  const list = async () => {
    one.classList.add('hidden');
    [chosen, filter.value] = ['', ''];
    const from = file();
    if (!from) return;
    const told = await progress.follow('Reading', command.json<Listed>(['tensors', from.name], [from]));
    items = told?.value.tensors ?? [];
    filter.classList.toggle('hidden', items.length < 9);
    narrow();
    total.textContent = !told ? '' : items.length === 0 ? 'No operator without inputs fills anything here.'
      : `${count(items.length, 'tensor')}, ${bytes(told.value.held_bytes)} in the file${told.value.made_bytes > 0 ? `, ${bytes(told.value.made_bytes)} made when it runs` : ''}`;
    if (items.length > 0 && items.length < 200 && items[0]) await pick(items[0]);
  };
  const pick = async (item: Item) => {
    chosen = item.name;
    rows.update();
    const told = await oneProgress.follow(`Reading ${item.name}`, ask(item.name, 0));
    if (!told) return void one.classList.add('hidden');
    const { numbers, values: first, tensor } = told.value, name = `${item.name.replaceAll('/', '__')}.npy`;
    const save = async () => {
      const ran = await oneProgress.follow('Writing', command.json([...wordsFor(item.name), '-o', name], files));
      for (const made of ran?.files ?? []) saveFile(name, new Blob([made.bytes as Uint8Array<ArrayBuffer>]));
    };
    one.classList.remove('hidden');
    one.replaceChildren(h('div.label', 'Tensor'), h('h3.mono', item.name),
      h('p.hint', `${numbers.type} ${shapeText(numbers.shape)}${tensor.held ? '' : `, made by ${tensor.made_by}: as a run with seed 1 begins`}`),
      ...(numbers.type === 'string' ? [] : [statistics(numbers), histogram(numbers), strip(first.slice(0, 64)) ?? '']),
      values.element, h('div', h('button.quiet', { onclick: () => void save() }, 'Save .npy')), asCommand(wordsFor(item.name)));
    values.show(numbers.shape, numbers.elements, first);
  };

  // Every net that is open, with the init net that fills it.
  const missingPart = part('Missing blobs', missing);
  missingPart.classList.add('hidden');
  let round = 0;
  const check = async () => {
    const mine = ++round, { nets } = app.state, inits = new Set(app.state.pairs.map((pair) => pair.init));
    const asked = nets.filter((net) => net.parent < 0 && !inits.has(net.id) && net.document !== app.state.preview?.document).slice(0, 8);
    const parts: Node[] = [];
    for (const net of asked) {
      const init = app.workshop.initOf(net), of = app.workshop.fileOf(net), fills = init && app.workshop.fileOf(init);
      const words = ['check', of.word, ...(fills ? ['--init', fills.word] : [])];
      const found = await command.json<{ findings: Missing[] }>(words, [of.file, ...(fills ? [fills.file] : [])]).result.then(({ value }) => value.findings, () => []);
      if (mine !== round) return;
      const told = found.filter((f) => f.code === 'not_fed' || (f.blob && /missing|never_written|undeclared|not_filled/.test(f.code)));
      parts.push(h('h3', net.name || of.word), h('p.hint', fills ? `Filled by ${init.name || fills.word}.` : 'No init net for it is open.'),
        told.length === 0 ? h('p.hint', fills ? 'Everything that it reads is there.' : 'Open its init net to see what is still missing.')
          : h('ul.missing', ...told.slice(0, 50).map((f) => h('li', h('button.mono', { onclick: () => void app.show(net.id).then(() => app.selectBlobNamed(f.blob, undefined, { reveal: true })) }, f.blob), h('p', f.message), f.remedy ? h('p.hint', f.remedy) : null)),
            told.length > 50 ? h('li.hint', `and ${told.length - 50} more`) : null));
    }
    missing.replaceChildren(...parts);
    missingPart.classList.toggle('hidden', parts.length === 0);
  };

  return {
    element: h('div.tensors', h('div.from', choose, filter), progress.element, rows.element, total, one, oneProgress.element, missingPart),
    update: () => {
      const before = choose.value, known = app.workshop.files();
      void check();
      if (known.length === files.length && known.every((f, i) => f === files[i])) return;
      const weights = known.filter((f) => !files.includes(f) && !app.workshop.hasNet(f)).at(-1);
      files = known;
      const base = app.workshop.base(), init = base && (app.workshop.initOf(base) ?? base);
      choose.replaceChildren(...files.map((f) => h('option', { value: f.name }, f.name)));
      choose.value = weights ? weights.name : files.some((f) => f.name === before) ? before : init ? app.workshop.fileOf(init).file.name : files[0]?.name ?? '';
      void list();
    },
  };
}

export const tensorsTool: Tool = {
  id: 'tensors', title: 'Tensors', what: 'What init nets and weight files hold', icon: 'M3 3h10v10H3zM3 6.3h10M3 9.7h10M6.3 3v10M9.7 3v10', make,
};
