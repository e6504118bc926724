// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The signs on the corners of boxes, and what they mean: in the page of keys, and in the tip of a box that has one.

import { nodeFlags } from './render.ts';

/** In the order of Painter::PaintBadge in inspector/render/painter.cc: a box has the first that fits. */
export const signs: { sign: string; what: string; flags: number }[] = [
  { sign: '?', what: 'not an operator that Weft knows', flags: nodeFlags.unknown },
  { sign: '×', what: 'not the same on all devices', flags: nodeFlags.differs },
  { sign: '!', what: 'has a finding', flags: nodeFlags.finding | nodeFlags.error },
  { sign: '+', what: 'holds more: double click opens it', flags: nodeFlags.nested | nodeFlags.expandable },
  { sign: '=', what: 'in place: writes a blob that it reads', flags: nodeFlags.inPlace },
];

/** A line for the tip, empty for a box without a sign. */
export function signText(flags: number): string {
  const has = signs.find((sign) => flags & sign.flags);
  return has ? `\n${has.sign}  ${has.what}` : '';
}
