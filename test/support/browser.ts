import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { until } from '../faults/until.ts'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome']
const LISTENS = /DevTools listening on (ws:\S+)/
const PATIENCE_MS = 60_000
/** Without what no test looks at: 4 of 28 CPU-seconds of two visits of the shop front (2026-11). */
const CHEAPER = [
  ...[
    '--disable-extensions',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync'
  ],
  '--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider',
  // Fewer processes.
  ...['--in-process-gpu', '--disable-site-isolation-trials', '--no-zygote']
]
/** A look at a page costs more than one at a variable: the browser computes its layout. */
const LOOK_MS = 25
const KEY_CODES: Readonly<Record<string, number>> = { Tab: 9, Enter: 13, Escape: 27 }

/** Where Chromium is on this machine; `undefined` when it is not. */
export const chromium = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap(folder => NAMES.map(name => join(folder, name)))
  .find(isProgram)

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

type Reply = {
  id?: number
  sessionId?: string
  method?: string
  params?: never
  result?: never
  error?: { message: string }
}
type Box = { x: number; y: number }

/** A Chromium without a window, driven by its DevTools protocol. It has to be closed. */
export async function openBrowser(program: string) {
  const profile = await mkdtemp(join(tmpdir(), 'cartwright browser '))
  const child = spawn(
    program,
    [
      ...['--headless=new', '--remote-debugging-port=0', `--user-data-dir=${profile}`],
      // Root gets no sandbox; containers have little shared memory.
      ...['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--no-first-run'],
      ...CHEAPER,
      'about:blank'
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], detached: true }
  )
  const socket = new WebSocket(await addressOf(child))
  await once(socket, 'open')
  const waiting = new Map<number, PromiseWithResolvers<never>>()
  const listeners = new Map<string, (params: never) => void>()
  socket.addEventListener('message', ({ data }) => {
    const { id, sessionId, method, params, result, error } = JSON.parse(String(data)) as Reply
    if (method !== undefined) listeners.get(`${sessionId} ${method}`)?.(params as never)
    if (id === undefined) return
    if (error === undefined) waiting.get(id)?.resolve(result as never)
    else waiting.get(id)?.reject(new Error(error.message))
    waiting.delete(id)
  })
  let last = 0
  /** Asks the browser, or one of its pages. */
  const send = (method: string, params: object = {}, sessionId?: string) => {
    last += 1
    const reply = Promise.withResolvers<never>()
    waiting.set(last, reply)
    socket.send(JSON.stringify({ id: last, method, params, sessionId }))
    // biome-ignore lint/suspicious/noExplicitAny: what the protocol answers is of a hundred shapes
    return reply.promise as Promise<any>
  }
  return {
    /** Opens a tab. Tabs of one `profile` share their storage; a tab without one has a profile of its own. */
    open: async (profile?: string) => {
      const context = profile ?? (await send('Target.createBrowserContext')).browserContextId
      return openTab(send, context, (event, listener) => listeners.set(event, listener))
    },
    close: async () => {
      socket.close()
      const isOver = once(child, 'exit')
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      await isOver
      await rm(profile, { recursive: true, force: true, maxRetries: 5 })
    }
  }
}

/** Output before the address is ignored. */
async function addressOf({ stderr, exitCode }: ChildProcess): Promise<string> {
  let said = ''
  stderr?.on('data', text => {
    said += text
  })
  await until('Chromium listens', () => LISTENS.test(said) || exitCode !== null, PATIENCE_MS)
  return LISTENS.exec(said)?.[1] ?? ''
}

type Send = (
  method: string,
  params?: object,
  sessionId?: string
  // biome-ignore lint/suspicious/noExplicitAny: what the protocol answers is of a hundred shapes
) => Promise<any>
type Listen = (event: string, listener: (params: never) => void) => void

async function openTab(ask: Send, profile: string, listenTo: Listen) {
  const { targetId } = await ask('Target.createTarget', { url: 'about:blank', browserContextId: profile })
  const { sessionId } = await ask('Target.attachToTarget', { targetId, flatten: true })
  const send = (method: string, params: object = {}) => ask(method, params, sessionId)
  const listen: Listen = (method, listener) => listenTo(`${sessionId} ${method}`, listener)
  /** Problems of the page: uncaught errors, violations of its policy, failed requests. */
  const problems: string[] = []
  listen('Runtime.exceptionThrown', ({ exceptionDetails }: { exceptionDetails: object }) =>
    problems.push(JSON.stringify(exceptionDetails))
  )
  listen('Log.entryAdded', ({ entry }: { entry: { level: string; text: string; url?: string } }) => {
    if (entry.level === 'error') problems.push(`${entry.text} ${entry.url ?? ''}`)
  })
  /** Every address that was asked for. */
  const addresses: string[] = []
  listen('Network.requestWillBeSent', ({ request }: { request: { url: string } }) =>
    addresses.push(request.url)
  )
  listen('Fetch.requestPaused', ({ requestId }: { requestId: string }) => {
    // The page may be gone by then.
    send('Fetch.failRequest', { requestId, errorReason: 'ConnectionReset' }).catch(() => {})
  })
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await send(`${domain}.enable`)

  /** The value of an expression in the page. */
  async function evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await send('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true
    })
    if (exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`)
    return result.value
  }
  /** Waits for it; when it does not come, the error says what the page shows instead. */
  async function holds(what: string, check: () => unknown): Promise<void> {
    try {
      await until(what, check, PATIENCE_MS, LOOK_MS)
    } catch (cause) {
      const page = await evaluate<string>("location.href + '\\n' + document.body.innerText")
      throw new Error(`${(cause as Error).message}; ${problems.join('\n')}\n${page}`, { cause })
    }
  }
  /** The first element that a selector finds and that has this text in it. */
  const found = (selector: string, text: string) =>
    `[...document.querySelectorAll(${JSON.stringify(selector)})].find(each => each.textContent.includes(${JSON.stringify(text)}))`

  /** Clicks the middle of the element once it is visible. */
  async function click(selector: string, text = ''): Promise<void> {
    let place: Box | null = null as Box | null
    await holds(`${selector} ${text} can be pressed`, async () => {
      place = await evaluate<Box | null>(`(each => {
        each.scrollIntoView({ block: 'center', behavior: 'instant' })
        const box = each.getBoundingClientRect()
        const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
        return !each.disabled && each.contains(document.elementFromPoint(x, y)) ? { x, y } : null
      })(${found(selector, text)})`)
      return place !== null
    })
    for (const type of ['mousePressed', 'mouseReleased'])
      await send('Input.dispatchMouseEvent', { type, ...place, button: 'left', clickCount: 1 })
  }

  return {
    profile,
    problems,
    addresses,
    evaluate,
    /** Ends its profile, with all tabs of it. */
    close: () => ask('Target.disposeBrowserContext', { browserContextId: profile }),
    goto: (url: string) => send('Page.navigate', { url }),
    reload: () => send('Page.reload'),
    /** From now on, requests to this address are executed, and their responses are lost. */
    losesAnswersOf: (urlPattern: string) =>
      send('Fetch.enable', { patterns: [{ urlPattern, requestStage: 'Response' }] }),
    losesNothing: () => send('Fetch.disable'),
    click,
    /** Replaces the text of a field. */
    type: async (selector: string, text: string) => {
      await holds(`there is ${selector}`, () => evaluate(`${found(selector, '')} !== undefined`))
      await evaluate(`(each => { each.focus(); each.select?.() })(${found(selector, '')})`)
      await send('Input.insertText', { text })
    },
    /** Types a text where the focus is. */
    insert: (text: string) => send('Input.insertText', { text }),
    /** Presses a key where the focus is, such as `Tab` or `/`. */
    press: async (key: string) => {
      const text = key === 'Enter' ? '\r' : key.length === 1 ? key : undefined
      const pressed = { key, windowsVirtualKeyCode: KEY_CODES[key], ...(text !== undefined && { text }) }
      await send('Input.dispatchKeyEvent', {
        type: text === undefined ? 'rawKeyDown' : 'keyDown',
        ...pressed
      })
      await send('Input.dispatchKeyEvent', { type: 'keyUp', ...pressed })
    },
    /** The languages that the reader prefers. */
    languages: async (acceptLanguage: string) => {
      const userAgent = await evaluate<string>('navigator.userAgent')
      await send('Emulation.setUserAgentOverride', { userAgent, acceptLanguage })
    },
    /** Sets the width of the window in pixels, and the colors that the reader prefers. */
    view: async (width: number, colors: 'light' | 'dark') => {
      const size = { width, height: 900, deviceScaleFactor: 1, mobile: false }
      await send('Emulation.setDeviceMetricsOverride', size)
      await send('Emulation.setEmulatedMedia', {
        features: [{ name: 'prefers-color-scheme', value: colors }]
      })
    },
    /** Chooses from a list. */
    choose: async (selector: string, value: string) => {
      await holds(`there is ${selector}`, () => evaluate(`${found(selector, '')} !== undefined`))
      await evaluate(`(each => {
        each.value = ${JSON.stringify(value)}
        each.dispatchEvent(new Event('change', { bubbles: true }))
      })(${found(selector, '')})`)
    },
    /** Waits for the page to show a text there. */
    sees: (text: string, selector = 'body') =>
      holds(`${selector} shows ${text}`, () =>
        evaluate(
          `document.querySelector(${JSON.stringify(selector)})?.innerText.includes(${JSON.stringify(text)})`
        )
      )
  }
}
