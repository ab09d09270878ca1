/**
 * Defers what Fastify and its router do for each of three hundred routes, because hardly one needs it at the start. It
 * takes 50 ms of a start's 440 (2026-11). In the bundle, and in tests, it is done when it is asked for, for all routes at once,
 * or not at all.
 */
import type { Plugin } from 'rolldown'

type Change = { readonly from: string | RegExp; readonly to: string }

const CHANGES: Readonly<Record<string, readonly Change[]>> = {
  'find-my-way/lib/node.js': [
    // How a part of a path is compared.
    {
      from: /return (new Function\('path', 'i', .*\)).*\n/,
      to: 'let match\nreturn (path, i) => (match ??= $1)(path, i)\n'
    }
  ],
  'find-my-way/lib/handler-storage.js': [
    // How the parameters of a path become an object.
    { from: 'const handlerObject = {', to: 'const storage = this\nconst handlerObject = {' },
    {
      from: '_createParamsObject: this._compileCreateParamsObject(params)',
      to: `_createParamsObject(...given) {
        this._createParamsObject = storage._compileCreateParamsObject(params)
        return this._createParamsObject(...given)
      }`
    },
    // Which of several routes at one path is meant, by its host or version.
    {
      from: 'this._compileGetHandlerMatchingConstraints(constrainer, constraints)',
      to: `this._getHandlerMatchingConstraints = given => {
        this._compileGetHandlerMatchingConstraints(constrainer, constraints)
        return this._getHandlerMatchingConstraints(given)
      }`
    }
  ],
  'fastify/lib/route.js': [
    // Whether there is a route for HEAD, before one is made.
    {
      from: /const headHandler = (router\.findRoute\(.*\))\n\s*const hasHEADHandler = headHandler !== null/,
      to: 'const hasHEADHandler = shouldExposeHead && $1 !== null'
    },
    // What waits until the plugin of the route is loaded, and then until all are: a plugin of its own, and a listener.
    { from: /this\.after\((?=\(notHandledErr, done\) => \{)/, to: 'together(this, ' },
    { from: "avvio.once('preReady', ", to: 'beforeReady(avvio, ' },
    {
      from: "'use strict'\n",
      to: `'use strict'
const waiting = new WeakMap()
function gather (key, work, begin) {
  const gathered = waiting.get(key)
  if (gathered !== undefined) return gathered.push(work)
  waiting.set(key, [work])
  begin((...given) => {
    const all = waiting.get(key)
    waiting.delete(key)
    for (const each of all) each(...given)
  })
}
const together = (server, work) =>
  gather(server, work, all => server.after((error, done) => { all(error, () => {}); done(error) }))
const beforeReady = (avvio, work) => gather(avvio, work, all => avvio.once('preReady', all))
`
    }
  ]
}

const nameOf = (id: string): string => /\/node_modules\/(.*)/.exec(id)?.[1] ?? ''

/** Whether the module with this path or URL does something later. */
export const isDeferred = (id: string): boolean => nameOf(id) in CHANGES

/** @throws when a package is not any more what the change was made for. */
export function deferRouteWork(code: string, id: string): string {
  const name = nameOf(id)
  return (CHANGES[name] ?? []).reduce((text, { from, to }) => {
    const changed = text.replace(from, to)
    if (changed === text) throw new Error(`${name} has changed: see what it does for each route now`)
    return changed
  }, code)
}

export const later: Plugin = { name: 'later', transform: deferRouteWork }
