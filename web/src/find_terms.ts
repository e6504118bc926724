// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The words of a query that ask for what `weft shapes` told: shape:[N,64,*], bytes>1e6, flops>=2e9. The engine answers the
// others.

import { type Amount, type Measured, type Told, size } from './measures.ts';

export interface Terms {
  /** The query without them. */
  rest: string;
  /** Whether an operator fits, by what it writes and costs; null when no word asks. */
  fits: ((op: number, written: Measured[], told: Told | null) => boolean) | null;
}

const term = /(?<=^|\s)(-?)(?:shape:(?:\[([^\]]*)\]?|(\S+))|(bytes|flops)(<=|>=|!=|[<>=:])([\d.e+_]+)([kMGT]?)B?)(?=\s|$)/gi;
const powers: Record<string, number> = { '': 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 };

export function readTerms(query: string): Terms {
  const tests: NonNullable<Terms['fits']>[] = [];
  const rest = query.replaceAll(term, (_, not: string, inside: string | undefined, bare: string | undefined, what: string | undefined, sign = '', number = '', power = '') => {
    const holds = what ? compare(sign, Number((Number(String(number).replaceAll('_', '')) * (powers[String(power).toLowerCase()] ?? 1)).toPrecision(15))) : null;
    const wanted = (inside ?? bare ?? '').split(/[,×x\s]+/).filter(Boolean);
    const one: NonNullable<Terms['fits']> = holds
      ? (op, written, told) => (what === 'flops' ? holds(told?.operators[op]?.flops ?? null) : written.some((value) => holds(value.bytes)))
      : (_op, written) => written.some(({ shape }) => Array.isArray(shape) && alike(shape, wanted));
    tests.push(not ? (op, written, told) => !one(op, written, told) : one);
    return '';
  }).trim();
  return { rest, fits: tests.length > 0 ? (op, written, told) => tests.every((test) => test(op, written, told)) : null };
}

// What words look like that find nothing, and a line about how one asks for that. Every second part of it takes their place.
const forms: [RegExp, string[]][] = [
  [/(?<=^|\s)(?:\w+[=:])?(\d+)[x×]\1(?=\s|$)/i, ['A window is asked for as ', 'kernel=$1', ', a shape as ', 'shape:[...,$1,$1]', '.']],
  [/(?<=^|\s)\[?(\d+(?:[x×,]\d+)+)\]?(?=\s|$)/i, ['A shape is asked for as ', 'shape:[$1]', ', its end as ', 'shape:[...,$1]', '.']],
  [/(?<=^|\s)type:(\w+)(?=\s|$)/, ['A type is given whole; ', 'type:/$1/', ' finds parts of types.']],
  [/(?<=^|\s)(type|name|blob|reads|writes|device|engine|role|scope|shape)=+(\S+)/, ['This is asked with a colon: ', '$1:$2', '.']],
  [/(?<=^|\s)(\w+):([<>]=?\d\S*)/, ['A comparison needs no colon: ', '$1$2', '.']],
  [/(?<=^|\s)(?=\S*\*)\*?(\w+)\*?(?=\s|$)/, ['A part of a word needs no star: ', '$1', '.']],
  [/^([a-z_]+)\s+(\d+)$/i, ['A value is asked for as ', '$1=$2', '.']],
];

/** For a query that found nothing: the line, its second and fourth part queries to ask instead. */
export function advice(query: string): string[] {
  for (const [looks, line] of forms) if (looks.test(query)) return line.map((text, i) => (i % 2 ? query.replace(looks, text) : text));
  return [];
}

function compare(sign: string, n: number): (value: Amount) => boolean {
  return (amount) => {
    const value = size(amount);
    return value >= 0 && (sign === '<' ? value < n : sign === '<=' ? value <= n : sign === '>' ? value > n : sign === '>=' ? value >= n : sign === '!=' ? value !== n : value === n);
  };
}

/** A number is that extent, * or ? any, a letter a symbol of that name or one extent wherever it stands, ... any number of them. */
function alike(shape: readonly unknown[], wanted: string[]): boolean {
  const dots = wanted.indexOf('...');
  if (dots >= 0) {
    const after = wanted.length - dots - 1;
    return shape.length >= wanted.length - 1 && alike(shape.slice(0, dots).concat(after ? shape.slice(-after) : []), wanted.filter((w) => w !== '...'));
  }
  const symbols = new Map<string, unknown>();
  return shape.length === wanted.length && wanted.every((want, i) => {
    const extent = shape[i];
    if (want === '*' || want === '?' || String(extent) === want) return true;
    if (!/^[a-z_]\w*$/i.test(want)) return false;
    if (!symbols.has(want)) symbols.set(want, extent);
    return symbols.get(want) === extent;
  });
}
