import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import axe from 'axe-core'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { type AuthApi, authModule } from '../src/modules/auth/index.ts'
import { createTestApp, type TestApp } from './support/app.ts'
import { chromium, openBrowser } from './support/browser.ts'

// Lane long: every operation in a browser takes a minute. openapi.test.ts checks the document that it shows.

if (chromium === undefined) console.warn('The API page is not walked through: there is no chromium in PATH.')
const walk = test.skipIf(chromium === undefined)
const LONG = { timeout: 240_000 }
const ADMIN = { email: 'boss@example.com', password: 'nine lives and a piano' }
const run = promisify(execFile)

type Api = { paths: Record<string, Record<string, { operationId: string; requestBody?: object }>> }
let shop: TestApp
let origin: string
let api: Api
let ids: string[]
/** One for all tests: to start it takes a second of CPU time, and each tab has a profile of its own. */
let browser: Awaited<ReturnType<typeof openBrowser>>
beforeAll(async () => {
  if (chromium === undefined) return
  browser = await openBrowser(chromium)
  return browser.close
})
beforeAll(async () => {
  shop = await createTestApp()
  await (shop.apiOf(authModule) as AuthApi).createUser({ ...ADMIN, role: 'admin' })
  origin = await shop.listen()
  api = (await shop.request('GET', '/openapi.json')).json
  ids = Object.values(api.paths).flatMap(methods => Object.values(methods).map(each => each.operationId))
  return shop.close
})

/** A tab at the API page. */
async function openDocs(hash = '') {
  const tab = await browser.open()
  onTestFinished(tab.close)
  await tab.goto(`${origin}/docs${hash}`)
  await tab.sees(' operations', '#found')
  return tab
}
type Tab = Awaited<ReturnType<typeof openDocs>>

/** How many elements a selector finds that are shown. */
const count = (tab: Tab, selector: string) =>
  tab.evaluate<number>(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].filter(each => each.checkVisibility()).length`
  )
const OPENED = '.operation[open]'
/** Follows a link to an operation, such as `auth/get_auth_me`. */
const openOperation = async (tab: Tab, place: string) => {
  await tab.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`)
  await tab.sees('Examples', `#${place.split('/')[1]}[open]`)
}
/** Opens all disclosures that a selector finds, and waits for their content. */
async function openAll(tab: Tab, selector: string) {
  await tab.evaluate(
    `document.querySelectorAll(${JSON.stringify(selector)}).forEach(each => { each.open = true })`
  )
  const empty = `${selector}[open]:not(:has(> :nth-child(2)))`
  await expect.poll(() => tab.evaluate(`document.querySelectorAll(${JSON.stringify(empty)}).length`)).toBe(0)
}
const focused = (tab: Tab) => tab.evaluate<string>('document.activeElement.textContent.trim()')

walk('the API page lists every operation, and renders its details when it is opened', LONG, async () => {
  const tab = await openDocs()
  expect(await count(tab, '.operation')).toBe(ids.length)
  expect(await count(tab, '.details, textarea')).toBe(0)
  await tab.click('.operation summary', '/api/orders/guest')
  await tab.sees('Send request', OPENED)
  expect(await tab.evaluate('location.hash')).toContain('#/guest%20orders/post_orders_guest')
  expect(await tab.evaluate(`document.querySelectorAll('.details').length`)).toBe(1)
  expect(tab.problems).toEqual([])
})

walk("the API page shows an operation's fields, limits, values, responses and errors", LONG, async () => {
  const tab = await openDocs('#/pricing/post_admin_promotions')
  const facts = [
    ...['Needs an access token (admin).', 'Body: at most ', 'CreatePromotionRequest', 'name string required'],
    ...['1 to 255 characters', '"line" "order" "shipping"', 'map of integer | null', 'string[]'],
    ...['201 Created', 'PromotionResponse', 'etag', '409', 'default true']
  ]
  for (const fact of facts) await tab.sees(fact, '#post_admin_promotions')
  await tab.click('#post_admin_promotions summary', 'Fields of effect')
  await tab.click('#post_admin_promotions summary', 'type: "percentage"')
  await tab.sees('percentage_ppm integer required', '#post_admin_promotions')
  await openOperation(tab, 'orders/post_orders_id_cancel')
  await tab.sees('Counts as 20 requests in the rate limits.', '#post_orders_id_cancel')
})

walk('a search on the API page shows the operations that contain all of its words', LONG, async () => {
  const tab = await openDocs()
  await tab.type('#search', 'Guest  POST x-order-token')
  await tab.sees(`of ${ids.length} operations`, '#found')
  const texts = await tab.evaluate<string[]>(
    `[...document.querySelectorAll('.operation')].filter(each => each.checkVisibility()).map(each => each.textContent)`
  )
  expect(texts).toContainEqual(expect.stringContaining('POST/api/orders/guest/{id}/cancel'))
  expect(texts.filter(text => !/^POST.*guest/.test(text))).toEqual([])
  expect(await count(tab, 'h2')).toBe(await count(tab, 'section'))
  await tab.type('#search', 'no operation has these words')
  await tab.sees(`0 of ${ids.length} operations`, '#found')
  await tab.evaluate(`location.hash = '#/cart/get_cart'`)
  await tab.sees('Send request', OPENED)
  expect(await count(tab, '.operation')).toBe(ids.length)
})

walk('a link into the API page opens a group, an operation, a status or an error code', LONG, async () => {
  const tab = await openDocs('#/orders/post_orders')
  await tab.sees('OrderRequest', OPENED)
  const visit = async (hash: string) => {
    await tab.goto('about:blank')
    await tab.goto(`${origin}/docs${hash}`)
    await expect.poll(() => tab.evaluate('document.activeElement === document.body')).toBe(false)
    const top = 'document.activeElement.getBoundingClientRect().top'
    expect(await tab.evaluate<number>(top), hash).toBeLessThan(await tab.evaluate<number>('innerHeight'))
    return focused(tab)
  }
  expect(await visit('#/guest%20orders')).toBe('Guest orders')
  expect(await visit('#/catalog/get_products')).toContain('GET/api/products')
  expect(await visit('#errors/409')).toBe('409')
  expect(await visit('#errors/CART_EMPTY')).toMatch(/^CART_EMPTY/)
})

walk('the API page can be used with the keyboard alone', LONG, async () => {
  const tab = await openDocs()
  await tab.press('/')
  expect(await tab.evaluate('document.activeElement.id')).toBe('search')
  await tab.type('#search', 'get products')
  const next = async (what: string) => {
    for (let pressed = 0; pressed < 60; pressed += 1) {
      await tab.press('Tab')
      if ((await focused(tab)).includes(what)) return
    }
    throw new Error(`${what} is not reached with Tab`)
  }
  await next('GET/api/products')
  await tab.press('Enter')
  await tab.sees('Parameters', OPENED)
  await next('Send request')
  await tab.press('Enter')
  await tab.sees('200 OK', '.operation[open] form')
  await next('Headers')
  await tab.press('Enter')
  await tab.sees('content-type: application/json', '.response')
})

walk(
  'on the API page, an access token or API key authorizes requests until the page is left',
  LONG,
  async () => {
    const tab = await openDocs('#/auth/post_auth_login')
    await tab.type('#post_auth_login textarea', JSON.stringify(ADMIN))
    await tab.click('button', 'Send request')
    await tab.click('button', 'Use this access token')
    await openOperation(tab, 'auth/get_auth_me')
    await tab.click('#get_auth_me button', 'Send request')
    await tab.sees(ADMIN.email, '#get_auth_me .response')

    const { access_token } = (await shop.request('POST', '/api/auth/login', { body: ADMIN })).json
    const made = await shop.as({ token: access_token }).post('/api/auth/api-keys', { name: 'Docs' })
    await tab.goto('about:blank')
    await tab.goto(`${origin}/docs`)
    await tab.sees('operations', '#found')
    await openOperation(tab, 'admin/get_admin_users')
    await tab.click('#get_admin_users button', 'Send request')
    await tab.sees('AUTHENTICATION_REQUIRED', '#get_admin_users .response')
    await tab.click('#authorize')
    await tab.type('#api-key', 'not a key')
    await tab.click('dialog button', 'Use')
    await tab.sees('AUTH_INVALID_API_KEY', 'dialog')
    await tab.type('#api-key', made.json.api_key)
    await tab.click('dialog button', 'Use')
    await tab.sees('Authorized', '#authorize')
    await tab.click('#get_admin_users button', 'Send request')
    await tab.sees(ADMIN.email, '#get_admin_users .response')
    expect(await tab.evaluate('localStorage.length + sessionStorage.length + document.cookie.length')).toBe(0)
  }
)

walk('the curl and TypeScript examples of the API page do what its form would send', LONG, async () => {
  const tab = await openDocs('#/auth/patch_auth_me')
  expect(api.paths['/api/auth/me']).toHaveProperty('patch')
  const { access_token: TOKEN } = (await shop.request('POST', '/api/auth/login', { body: ADMIN })).json
  const nameNow = async () => (await shop.request('GET', '/api/auth/me', { token: TOKEN })).json.name
  const example = (title: string) =>
    tab.evaluate<string>(
      `[...document.querySelectorAll('${OPENED} figure')].find(each => each.textContent.startsWith('${title}')).querySelector('code').textContent`
    )
  const write = (name: string) => tab.type(`${OPENED} textarea`, JSON.stringify({ name }))
  await tab.sees('Send request', OPENED)

  await write(`Ada's "first" \\ $HOME`)
  const curl = await example('curl')
  expect(curl).toContain(`${origin}/api/auth/me`)
  await run('sh', ['-c', curl.replace('curl ', 'curl -sf ')], { env: { ...process.env, TOKEN } })
  expect(await nameNow()).toBe(`Ada's "first" \\ $HOME`)

  await write(`Ada's "second" \\ \${HOME}`)
  const typeScript = (await example('TypeScript')).replace('<access token>', TOKEN)
  await run(process.execPath, ['--input-type=module-typescript', '-e', typeScript])
  expect(await nameNow()).toBe(`Ada's "second" \\ \${HOME}`)
})

walk(
  'all opened operations of the API page fit into 360 pixels, and their sample bodies match the schemas',
  LONG,
  async () => {
    const tab = await openDocs()
    await tab.view(360, 'light')
    // A page that is laid out once, not for each of them, takes a tenth of the time.
    const show = (isShown: boolean) =>
      tab.evaluate(`void (document.getElementById('operations').hidden = ${!isShown})`)
    await show(false)
    for (const selector of ['.operation', '.details details']) await openAll(tab, selector)
    expect(await tab.evaluate(`document.querySelectorAll('.details').length`)).toBe(ids.length)
    await show(true)
    const [wanted, room] = await tab.evaluate<[number, number]>(
      `(page => [page.scrollWidth, page.clientWidth])(document.documentElement)`
    )
    expect(wanted).toBeLessThanOrEqual(room)
    expect(await tab.evaluate('document.body.textContent')).not.toMatch(/\[object |undefined|NaN/)
    expect(tab.problems).toEqual([])
    const samples = await tab.evaluate<{ id: string; required: string; all: string }[]>(`
    [...document.querySelectorAll('textarea')].map(area => {
      const press = text => [...area.parentElement.querySelectorAll('button')].find(each => each.textContent === text).click()
      const read = text => { press(text); return area.value }
      return { id: area.id.replace(/-body$/, ''), required: read('Required fields'), all: read('All fields') }
    })`)
    const ajv = new Ajv2020({ strict: false, validateFormats: true })
    formats.default(ajv)
    ajv.addSchema(api, 'api')
    const misfits = Object.entries(api.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { operationId, requestBody }]) => {
        if (JSON.stringify(requestBody)?.includes('application/json') !== true) return []
        const pointer = `api#/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}/${method}/requestBody/content/application~1json/schema`
        const isValid = ajv.compile({ $ref: encodeURI(pointer).replaceAll('%23', '#') })
        const sample = samples.find(({ id }) => id === operationId)
        return (['required', 'all'] as const).flatMap(kind =>
          sample !== undefined && isValid(JSON.parse(sample[kind]))
            ? []
            : [`${operationId} ${kind}: ${sample?.[kind]} ${ajv.errorsText(isValid.errors)}`]
        )
      })
    )
    expect(misfits).toEqual([])
    expect(samples.length).toBeGreaterThan(90)
  }
)

walk(
  "axe finds no accessibility problem in the API page's list, operations, dialog and errors",
  LONG,
  async () => {
    const tab = await openDocs()
    await tab.evaluate(`${axe.source};0`)
    const findings = (selector: string, options: object) =>
      tab.evaluate(`axe.run('${selector}', ${JSON.stringify(options)}).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => [id, html, failureSummary])))`)
    const expectNone = async (selector: string) => {
      await tab.view(360, 'light')
      expect(await findings(selector, {}), `${selector}, light`).toEqual([])
      await tab.view(1280, 'dark')
      expect(await findings(selector, { runOnly: ['color-contrast'] }), `${selector}, dark`).toEqual([])
    }
    await expectNone('html')
    const shown = ['pricing/post_admin_promotions', 'catalog/post_catalog_import', 'catalog/get_products']
    for (const place of shown) await openOperation(tab, place)
    await tab.click('#get_products button', 'Send request')
    await tab.sees('200 OK', '#get_products form')
    await openAll(tab, '.details details')
    await expectNone(OPENED)
    await tab.click('#authorize')
    await expectNone('dialog')
    await tab.press('Escape')
    await tab.evaluate(`location.hash = '#errors/409'`)
    await tab.sees('CART_EMPTY', '#errors')
    await expectNone('#errors')
  }
)
