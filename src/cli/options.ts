import type { Module } from '../module.ts'

/** What the command line of a shop is called, and what it runs. */
export type ProgramOptions = {
  /** Loaded only when a command has started what may happen meanwhile. */
  loadModules: () => Promise<readonly Module[]>
  name: string
  afterHelp: string
}

/** The command line of this project. */
export const ours: ProgramOptions = {
  loadModules: async () => (await import('../app.ts')).modules,
  name: 'cartwright',
  afterHelp: `
In the folder of the project, write "npm run cartwright --" in the place of "cartwright":
  npm run cartwright -- user create --help

Settings come from config.yaml and the environment; config.example.yaml lists them. Guides are in docs/README.md.`
}
