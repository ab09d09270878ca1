import axe from 'axe-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthApi, authModule } from '../../src/modules/auth/index.ts'
import { createTestApp, type TestApp } from './app.ts'
import { chromium, openBrowser } from './browser.ts'
import { usePost } from './checkouts.ts'
import { freePort } from './free-port.ts'
import { openTestSandbox } from './payments.ts'

const ADMIN = { email: 'boss@example.com', password: 'nine lives and a piano' }
const PATIENCE = { timeout: 60_000 }

/** A test in a real browser; skipped where there is none. */
export const walk = test.skipIf(chromium === undefined)
export type Tab = Awaited<ReturnType<Awaited<ReturnType<typeof openBrowser>>['open']>>

type Visitor = { profile?: string; languages?: string }

/** One browser for all tests of a file. Opens tabs at an address, each with a profile of its own or that of another tab. */
export function useBrowser() {
  let browser: Awaited<ReturnType<typeof openBrowser>> | undefined
  beforeAll(async () => {
    if (chromium !== undefined) browser = await openBrowser(chromium)
  })
  afterAll(() => browser?.close())
  return async (url: string, { profile, languages = 'en-US,en' }: Visitor = {}): Promise<Tab> => {
    if (browser === undefined) throw new Error('there is no chromium in PATH')
    const tab = await browser.open(profile)
    await tab.languages(languages)
    await tab.goto(url)
    return tab
  }
}

/** One shop of all modules, its payment sandbox and one browser, for all tests of a file. */
export function useFront() {
  const open = useBrowser()
  let shop: TestApp
  let sandbox: Awaited<ReturnType<typeof openTestSandbox>>
  let origin: string
  let admin: ReturnType<TestApp['as']>

  beforeAll(async () => {
    if (chromium === undefined) return
    const port = await freePort()
    sandbox = await openTestSandbox(port)
    shop = await createTestApp({
      PORT: String(port),
      CARTWRIGHT__PAYMENTS__SANDBOX__URL: sandbox.url
    })
    await employ(ADMIN)
    const { json } = await shop.as(null).post('/api/auth/login', ADMIN)
    admin = shop.as({ token: json.access_token })
    await usePost((path, body) => made(`/api/admin/${path}`, body))
    await shop.app.listen({ host: '127.0.0.1', port })
    origin = `http://127.0.0.1:${port}`
  })
  afterAll(async () => {
    await shop?.close()
    await sandbox?.close()
  })

  const employ = (account: typeof ADMIN) =>
    (shop.apiOf(authModule) as AuthApi).createUser({ ...account, role: 'admin' })
  const done = async (answer: ReturnType<typeof admin.get>) => {
    const { status, text, json } = await answer
    expect(status, text).toBeLessThan(300)
    return json
  }
  const made = (path: string, body: object) => done(admin.post(path, body))

  return {
    done,
    /** As the administrator. */
    get admin() {
      return admin
    },
    get anonymous() {
      return shop.as(null)
    },
    /** Makes another administrator. */
    employ,
    as: (token: string) => shop.as({ token }),
    /** A product that is on sale. */
    sell: (product: object) => made('/api/catalog/products', { status: 'active', ...product }),
    /** A tab at a page of the shop front. */
    open: async (place = '', visitor?: Visitor) => {
      const tab = await open(`${origin}/shop${place}`, visitor)
      await tab.sees('', 'h1')
      return tab
    },
    /** The link in the newest mail of a template to an address. */
    linkIn: async (template: string, email: string) => {
      const find = async () => {
        const { items } = (await shop.as(null).get(`/mails?to=${email}`)).json
        const id = items.find((each: { template: string }) => each.template === template)?.id
        return id && /http:\S+#token=\S+/.exec((await shop.as(null).get(`/mails/${id}`)).json.body_text)?.[0]
      }
      await expect.poll(find, PATIENCE).toBeDefined()
      return String(await find())
    }
  }
}

/**
 * Finds the violations that axe reports in the page, in a narrow light and a wide dark window. Also finds
 * elements that are wider than the window.
 */
export async function expectAccessible(tab: Tab): Promise<void> {
  await expect
    .poll(() => tab.evaluate(`document.querySelectorAll('[aria-busy="true"]').length`), PATIENCE)
    .toBe(0)
  await tab.evaluate(`${axe.source};0`)
  const place = await tab.evaluate<string>('location.hash')
  const findings = (options: object) =>
    tab.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => [id, html, failureSummary])))`)
  const overflow = () =>
    tab.evaluate<number>(
      '(page => Math.max(0, page.scrollWidth - page.clientWidth))(document.documentElement)'
    )
  await tab.view(360, 'light')
  expect([await findings({}), await overflow()], `${place}, 360 px, light`).toEqual([[], 0])
  await tab.view(1280, 'dark')
  expect(
    [await findings({ runOnly: ['color-contrast'] }), await overflow()],
    `${place}, 1280 px, dark`
  ).toEqual([[], 0])
}

/** Uses a page with the keyboard alone. */
export function keyboardOf(tab: Tab) {
  /** Presses Tab until the focus is on an element with this name; the body has the focus of a page without one. */
  const reach = async (name: string): Promise<void> => {
    const focused = () =>
      tab.evaluate<string>(`(each => each === document.body
        ? ''
        : [each.id, each.name, each.getAttribute('aria-label'), each.textContent].join(' '))(document.activeElement)`)
    for (let presses = 0; presses < 80; presses += 1) {
      await tab.press('Tab')
      if ((await focused()).includes(name)) return
    }
    throw new Error(`no Tab reaches ${name}`)
  }
  return {
    press: async (name: string): Promise<void> => {
      await reach(name)
      await tab.press('Enter')
    },
    /** Texts by the names of fields, in the order of the page. */
    fill: async (fields: Readonly<Record<string, string>>): Promise<void> => {
      for (const [name, text] of Object.entries(fields)) {
        await reach(name)
        await tab.insert(text)
      }
    }
  }
}
