// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The steps of a plan as a tree: in which order its nets run, how often, side by side or not, and what stops them.

import './plans.css';
import type { App } from '../app.ts';
import { count, digits, h } from '../dom.ts';
import { Progress, type Tool, asCommand } from './tool.ts';

interface Step {
  name: string; nets: string[]; steps: Step[];
  iterations?: number; until?: string; concurrent?: boolean; instances?: number; only_once?: boolean; own_workspace?: boolean;
  every_ms?: number; report_net?: string; report_seconds?: number; criteria_net?: string;
}
interface Plan { name: string; nets: { name: string; operators: number }[]; steps: Step[] }
const MOST = 2000; // steps that are listed

function make(app: App) {
  const progress = new Progress(), body = h('div.plans'), line = h('div');
  let shown = ''; // the file

  const netButton = (name: string, document: number, sizes: Map<string, number>) => {
    const net = app.state.nets.find((n) => n.document === document && n.parent < 0 && n.name === name);
    const size = sizes.get(name);
    return net ? h('button.ref', { 'data-net': net.id, 'aria-current': app.path()[0]?.id === net.id ? 'true' : undefined, onclick: () => void app.show(net.id) }, name, h('span.n', size === undefined ? '' : digits(size)))
      : h('span.ref.missing', name, h('span.n', 'not in the plan'));
  };
  const facts = (step: Step): (string | HTMLElement)[] => {
    const out: (string | HTMLElement)[][] = [];
    if (step.iterations !== undefined) out.push([h('b', digits(step.iterations)), step.iterations === 1 ? ' time' : ' times']);
    if (step.until) out.push(['until ', h('code', step.until)]);
    if (step.concurrent) out.push(['its steps side by side']);
    if (step.instances !== undefined && step.instances > 1) out.push([`${digits(step.instances)} instances`]);
    if (step.only_once) out.push(['only once']);
    if (step.own_workspace) out.push(['in a workspace of its own']);
    if (step.every_ms !== undefined) out.push([`every ${digits(step.every_ms)} ms`]);
    if (step.report_net) out.push(['reports with ', h('code', step.report_net), step.report_seconds === undefined ? '' : ` every ${digits(step.report_seconds)} s`]);
    if (step.criteria_net) out.push(['while ', h('code', step.criteria_net)]);
    return out.flatMap((fact, i) => (i > 0 ? [', ', ...fact] : fact));
  };

  const show = (plans: Plan[], document: number) => {
    let left = MOST;
    const tree = (steps: Step[], sizes: Map<string, number>): HTMLElement => h('ol', ...steps.flatMap((step) => {
      if (--left < 0) return [];
      const said = facts(step);
      return [h('li',
        h('div.step', h('b', step.name || 'step'), ' ', h('span.faint', ...said)),
        step.nets.length > 0 ? h('div.nets', ...step.nets.map((name) => netButton(name, document, sizes))) : null,
        step.steps.length > 0 ? tree(step.steps, sizes) : null)];
    }));
    body.replaceChildren(...plans.map((plan) => {
      const sizes = new Map(plan.nets.map((net) => [net.name, net.operators]));
      const used = new Set<string>();
      const walk = (steps: Step[]) => steps.forEach((step) => {
        for (const name of [...step.nets, step.report_net ?? '', step.criteria_net ?? '']) used.add(name);
        walk(step.steps);
      });
      walk(plan.steps);
      const idle = plan.nets.filter((net) => !used.has(net.name));
      return h('section', h('div.label', plan.name || 'Plan', ' ', h('span.fainter', count(plan.nets.length, 'net'))), tree(plan.steps, sizes),
        left < 0 ? h('p.hint', `and more steps than the ${digits(MOST)} shown`) : null,
        idle.length > 0 ? h('p.hint', 'No step runs ', ...idle.flatMap((net, i) => [i > 0 ? ', ' : '', netButton(net.name, document, sizes)]), '.') : null);
    }));
  };

  const none = () => {
    const others = app.state.documents.filter((d) => d.format.includes('Plan'));
    line.replaceChildren();
    body.replaceChildren(h('p.hint', 'What is shown is a net, not a plan. A plan says in which steps nets run: init once, train a thousand times, with reading beside it.'),
      ...others.map((d) => h('p', h('button.quiet', { onclick: () => {
        const net = app.state.nets.find((n) => n.document === d.id && n.parent < 0);
        if (net) void app.show(net.id);
      } }, `Show ${d.name}`))));
  };

  const update = async () => {
    const net = app.path()[0], document = app.state.documents.find((d) => d.id === net?.document);
    for (const button of body.querySelectorAll<HTMLElement>('[data-net]')) {
      if (button.dataset.net === String(net?.id)) button.setAttribute('aria-current', 'true');
      else button.removeAttribute('aria-current');
    }
    if (!net || !document?.format.includes('Plan')) {
      shown = '';
      progress.clear();
      return none();
    }
    const { file } = app.workshop.fileOf(net);
    const key = `${document.id}/${file.name}`;
    if (shown === key) return;
    shown = key;
    body.replaceChildren();
    const words = ['print', file.name, '--steps'];
    line.replaceChildren(asCommand(words));
    const told = await progress.follow('Reading the steps', app.workshop.command.json<{ plans: Plan[] }>(words, [file]));
    if (told && shown === key) show(told.value.plans, document.id);
  };
  return { element: h('div', progress.element, body, line), update: () => void update() };
}

export const plansTool: Tool = {
  id: 'plans', title: 'Plan', what: 'The steps of a plan, and the nets that they run', icon: 'M3 3h6M5 6.5h8M5 10h8M3 13.5h6M3 3v10.5', make,
};
