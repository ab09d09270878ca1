import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates a folder and its missing parents. Node's `recursive` never returns when a parent accepts no folders, such as
 * `/proc` (Node 26). @throws the error of the system.
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
    // Another process may have created it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(path).isDirectory()) throw error
  }
}
