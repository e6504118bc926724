// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0

import { compareTool } from './compare.ts';
import { consoleTool } from './console.ts';
import { exportTool } from './export.ts';
import { gradientsTool } from './gradients.ts';
import { overlayTool } from './overlay.ts';
import { parallelTool } from './parallel.ts';
import { passesTool } from './passes.ts';
import { plansTool } from './plans.ts';
import { runTool } from './run.ts';
import { shapesTool } from './shapes.ts';
import { tensorsTool } from './tensors.ts';
import type { Tool } from './tool.ts';

/** In the order of the rail: nets made from nets, what a net says, what runs, what leaves the page. */
export const toolGroups: Tool[][] = [
  [gradientsTool, passesTool, parallelTool],
  [shapesTool, plansTool, compareTool],
  [runTool, tensorsTool, overlayTool],
  [exportTool, consoleTool],
];
export const tools = toolGroups.flat();
