import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder and those above it, unless they are there. Node's own `recursive` never returns where a parent takes
 * no folders, such as `/proc` (Node 26). @throws the error of the system.
 */
export function createFolder(path: string): void {
  try {
    createOne(path)
  } catch (error) {
    const parent = dirname(path)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw error
    createFolder(parent)
    createOne(path)
  }
}

function createOne(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    // Also when another process was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(path).isDirectory()) throw error
  }
}
