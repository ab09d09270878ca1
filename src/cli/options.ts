import type { Module } from '../module.ts'

/** The name, modules and help text of a command line. */
export type CommandLineProgram = {
  /** A function, so that `start` can open the database while the modules load. */
  loadModules: () => Promise<readonly Module[]>
  name: string
  afterHelp: string
}

/** The options of `cartwright` itself, with the built-in modules. */
export const cartwrightCommandLineProgram: CommandLineProgram = {
  loadModules: async () => (await import('../app.ts')).standardModules,
  name: 'cartwright',
  afterHelp: `
In the project folder, use "npm run cartwright --" instead of "cartwright":
  npm run cartwright -- user create --help

Settings come from config.yaml and the environment; config.example.yaml lists them. Guides are in docs/README.md.`
}
