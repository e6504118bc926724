// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0

import { consoleTool } from './console.ts';
import { overlayTool } from './overlay.ts';
import { shapesTool } from './shapes.ts';
import type { Tool } from './tool.ts';

/** In the order of the rail. */
export const tools: Tool[] = [shapesTool, overlayTool, consoleTool];
