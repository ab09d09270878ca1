import { loadConfigWithoutModuleChecks } from '../config.ts'
import { listModuleStatuses, type Module } from '../module.ts'
import { formatTextTable } from './table.ts'

/** Prints every module with its parts and ports, whether it is enabled, and the modules that it requires. */
export function printModuleList(modules: readonly Module[], { json }: { json: boolean }): void {
  const listed = listModuleStatuses(modules, loadConfigWithoutModuleChecks(modules).modules)
  if (json) {
    process.stdout.write(`${JSON.stringify(listed)}\n`)
    return
  }
  const onOff = (enabled: boolean) => (enabled ? 'on' : 'off')
  const rows = listed.flatMap(({ name, enabled, requires, parts, ports, description }) => [
    [name, onOff(enabled), requires.join(', '), description],
    ...parts.map(part => [`  ${part.name}`, onOff(part.enabled), '', `A part of ${name}.`]),
    ...ports.map(port => {
      const providers = listed.filter(({ provides }) => provides.includes(port)).map(each => each.name)
      return [`  ${port}`, '', '', `A port of ${name}. Provided by: ${providers.join(', ') || 'no module'}.`]
    })
  ])
  process.stdout.write(formatTextTable(['module', '', 'requires', 'what it does'], rows))
}
