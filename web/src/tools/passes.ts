// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What changes a net as a whole. The passes, their words and options are those that the command lists; each is a form,
// and its result a preview.

import './passes.css';
import type { NetInfo } from '../../../wasm/weft.d.ts';
import type { App } from '../app.ts';
import type { Made } from '../command.ts';
import { bytes, digits, h } from '../dom.ts';
import { saveFile } from '../files.ts';
import { netTitle } from '../state.ts';
import { Progress, type Tool, asCommand, names } from './tool.ts';

interface Option { name: string; value: string; what: string; required: boolean }
interface Pass { words: string[]; what: string; files: { name: string; required: boolean }[]; options: Option[] }
type Told = Record<string, string | number | string[]>;

const DEBOUNCE = 300;
const byteFacts = ['peak_before', 'peak_after', 'lower_bound', 'least_whole', 'left_alone'];

function make(app: App) {
  const { workshop } = app;
  let passes: Pass[] = [];
  let pass: Pass | null = null;
  let base: NetInfo | null = null;
  let blobs: string[] = [];
  let values: (() => string[])[] = []; // by option: the words that say it
  let initWord: (() => NetInfo | null) | null = null;
  let timer = 0;
  const progress = new Progress(), choices = h('ul.choices'), outcome = h('div'), command = h('div');
  const changed = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => void run(), DEBOUNCE);
  };

  /** The nets besides the base that a second file may be. */
  function initField(required: boolean): HTMLElement {
    const nets = app.state.nets.filter((net) => net.parent < 0 && net.id !== base?.id && net.document !== app.state.preview?.document);
    const likely = base && workshop.initOf(base);
    const select = h('select', { 'aria-label': 'Init net', onchange: changed }, ...(required ? [] : [h('option', { value: '' }, 'none')]),
      ...nets.map((net) => h('option', { value: String(net.id), selected: net.id === likely?.id }, netTitle(net, app.state.documents))));
    initWord = () => nets.find((net) => String(net.id) === select.value) ?? null;
    return h('label', h('span.field', 'Init net'), select, nets.length === 0 ? h('div.means', 'Open the init net beside this one.') : '');
  }
  function field(option: Option): HTMLElement {
    const word = '--' + option.name;
    if (!option.value) {
      const box = h('input', { type: 'checkbox', onchange: changed });
      values.push(() => (box.checked ? [word] : []));
      return h('label.flag', box, h('span', option.name, h('div.means', option.what)));
    }
    if (/BLOB|OLD=|A\[|^Y/.test(option.value)) {
      const chosen = names(option.name, option.value, () => blobs, changed);
      values.push(() => chosen.get().flatMap((name) => [word, name]));
      chosen.element.append(h('div.means', option.what));
      return chosen.element;
    }
    const input = h('input.word.mono', { placeholder: option.value, spellcheck: false, autocomplete: 'off', 'aria-label': option.name, oninput: changed });
    if (option.name === 'name' && base) input.value = `${netTitle(base, app.state.documents).replace(/\.\w+$/, '')}_${pass?.words.at(-1) ?? ''}`;
    values.push(() => (input.value.trim() ? [word, input.value.trim()] : []));
    return h('label', h('span.field', option.name, option.required ? '' : ' '), input, h('div.means', option.what));
  }

  function show(): void {
    values = [];
    initWord = null;
    choices.replaceChildren(...passes.map((p) => {
      const name = p.words.at(-1) ?? '', open = p === pass;
      return h('li', h('button', { 'data-pass': name, 'aria-expanded': String(open), onclick: () => choose(open ? null : p) }, h('b', name), h('span.what', p.what)),
        open ? h('div.form', progress.element, outcome, ...p.files.filter((f) => f.name === 'INIT').map((f) => initField(f.required)), ...p.options.map(field), command) : '');
    }));
  }
  function choose(next: Pass | null): void {
    clearTimeout(timer);
    pass = next;
    progress.clear();
    outcome.replaceChildren();
    command.replaceChildren();
    show();
    choices.querySelector('[aria-expanded=true]')?.scrollIntoView({ block: 'start' });
    if (next) void run();
  }

  async function run(): Promise<void> {
    clearTimeout(timer);
    const of = base, which = pass;
    if (!of || !which) return;
    const missing = which.options.filter((option, i) => option.required && values[i]?.().length === 0);
    if (missing.length > 0) return outcome.replaceChildren(h('p.hint', `Needs ${missing.map((o) => o.name).join(', ')}.`));
    const name = which.words.at(-1) ?? '';
    const own = workshop.fileOf(of), init = initWord?.() ?? null, other = init && workshop.fileOf(init);
    if (which.files.some((f) => f.name === 'INIT' && f.required) && !other) return outcome.replaceChildren(h('p.hint', 'Needs an init net.'));
    const stem = own.word.replace(/[#/]/g, '_').replace(/\.(pb|pbtxt|prototxt|txt)$/, '');
    const line = [...which.words, ...which.files.flatMap((f) => (f.name === 'INIT' ? (other ? [other.word] : []) : [own.word])), ...values.flatMap((value) => value()),
      ...(name === 'predictor' && other ? ['--init-output', `${stem}_${name}_init.pb`] : []), '-o', `${stem}_${name}.pb`];
    command.replaceChildren(asCommand(line));
    outcome.replaceChildren();
    const done = await progress.follow('Running', workshop.command.json<Told>(line, [own.file, ...(other ? [other.file] : [])].filter((file, i, all) => all.indexOf(file) === i)));
    if (!done || of !== base || which !== pass) return;
    const net = done.files.find((file) => file.name.endsWith(`_${name}.pb`)), second = done.files.find((file) => file !== net);
    if (net) await workshop.showPreview(`${name} of ${netTitle(of, app.state.documents)}`, net, line);
    const after = app.state.nets.find((n) => n.document === app.state.preview?.document && n.parent < 0);
    tell(done.value, of, after ?? null, second);
  }
  function tell(told: Told, before: NetInfo, after: NetInfo | null, second?: Made): void {
    const facts = Object.entries(told).filter(([key]) => key !== 'net' && key !== 'init');
    const unknown = told.peak_before === 0;
    outcome.replaceChildren(
      h('table.told', h('tr', h('td', 'operators'), h('td', digits(before.numOps), ' → ', h('b', digits(after?.numOps ?? 0)))),
        ...facts.filter(([, value]) => !Array.isArray(value)).map(([key, value]) =>
          h('tr', h('td', key.replaceAll('_', ' ')), h('td', typeof value === 'number' ? (byteFacts.includes(key) ? bytes(value) : digits(value)) : String(value) || 'none')))),
      ...facts.filter(([, value]) => Array.isArray(value)).map(([key, value]) => h('div', h('span.field', `${key.replaceAll('_', ' ')}: ${digits((value as string[]).length)}`),
        h('pre', (value as string[]).slice(0, 1000).join('\n') || 'none'))),
      unknown ? h('p.hint', 'No sizes are known: give the shapes of the inputs, data=32,3,224,224, and open the init net for those of the parameters.') : '',
      second ? h('p.hint', second.name, ' ', h('button.quiet', { onclick: () => saveFile(second.name, new Blob([second.bytes as Uint8Array<ArrayBuffer>])) }, 'Save')) : '');
  }

  async function begin(net: NetInfo): Promise<void> {
    base = net;
    blobs = [];
    choose(null);
    if (passes.length === 0) {
      const listed = await progress.follow('Starting', workshop.command.json<{ commands: Pass[] }>(['pass'], []));
      passes = listed?.value.commands ?? [];
      show();
    }
    try {
      const { word, file } = workshop.fileOf(net);
      const ssa = await workshop.command.json<{ blobs: string[] }>(['grad', word, '--suggest'], [file]).result;
      if (base === net) blobs = ssa.value.blobs;
    } catch {
      // Then names are typed without help.
    }
  }
  return {
    element: h('div.passes', choices),
    update: () => {
      const net = workshop.base();
      if (net && net.id !== base?.id) void begin(net);
    },
  };
}

export const passesTool: Tool = {
  id: 'passes', title: 'Passes', what: 'Changes to the net as a whole, seen before they are saved', icon: 'M2 4h12M2 8h8M2 12h5M12 8v6M12 14l-2-2M12 14l2-2', make,
};
