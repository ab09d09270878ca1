import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'

const DEPLOY = new URL('../../deploy/', import.meta.url)
const read = (path: string) => readFile(new URL(path, DEPLOY), 'utf8')

type Environment = Record<string, string>
type Service = {
  image: string
  environment?: Environment
  ports?: string[]
  volumes?: string[]
  depends_on?: Record<string, object>
  scale?: number
  stop_grace_period?: string
}
export type Compose = { services: Record<string, Service>; volumes: Record<string, null> }

/** `${NAME}`, `${NAME:-default}` and `${NAME:?what is wrong}`. */
const VARIABLE = /\$\{(\w+)(?::([-?])([^}]*))?\}/g

/** The compose file, with these variables. @throws when one is missing, as compose does. */
export async function readCompose(variables: Environment): Promise<Compose> {
  const substitute = (text: string) =>
    text.replaceAll(VARIABLE, (_, name, kind, rest) => {
      const value = variables[name] ?? (kind === '-' ? rest : undefined)
      if (value === undefined) throw new Error(`${name}: ${rest}`)
      return value
    })
  return parse(await read('compose/compose.yaml'), (_key, value) =>
    typeof value === 'string' ? substitute(value) : value
  ) as Compose
}

export type Unit = Record<string, string[]>

/** The keys of the systemd unit, for the instance with this port. */
export async function readUnit(port: number): Promise<Unit> {
  const unit: Unit = {}
  for (const [, key = '', value = ''] of (await read('systemd/cartwright@.service')).matchAll(
    /^(\w+)=(.*)$/gm
  ))
    unit[key] = [...(unit[key] ?? []), value.replaceAll('%i', String(port))]
  return unit
}

/** The variables of `NAME=value NAME=value`. */
export const variablesOf = (text: string): Environment =>
  Object.fromEntries(text.split(/\s+/).map(pair => pair.split('=', 2) as [string, string]))
