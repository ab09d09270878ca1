import { expect, onTestFinished, test } from 'vitest'
import { done, openMugShop } from './journeys/shop.ts'
import { createTestApp } from './support/app.ts'
import { chromium, openBrowser } from './support/browser.ts'
import { STOCKHOLM } from './support/checkouts.ts'
import { freePort } from './support/free-port.ts'

const PATIENCE = { timeout: 60_000 }
const email = 'ada@example.com'

test('whoever registers, and forgets their password, finds in their mails what they need', async () => {
  const shop = await createTestApp()
  onTestFinished(shop.close)
  const anybody = shop.as(null)
  const account = { email, password: 'a long engine poem', name: 'Ada' }
  expect((await anybody.post('/api/auth/register', account)).status).toBe(201)
  const mailOf = async (template: string) => {
    type Listed = { id: string; template: string }
    const find = async (): Promise<Listed | undefined> =>
      (await anybody.get(`/mails?to=${email}`)).json.items.find((each: Listed) => each.template === template)
    await expect.poll(find, PATIENCE).toBeDefined()
    return (await anybody.get(`/mails/${(await find())?.id}`)).json
  }
  const tokenIn = ({ body_text }: { body_text: string }) => /#token=([^\s]+)/.exec(body_text)?.[1] ?? ''
  expect((await mailOf('welcome')).headers).toHaveProperty('list-unsubscribe')
  const verified = await anybody.post('/api/auth/verify', { token: tokenIn(await mailOf('verify_email')) })
  expect(verified.status, verified.text).toBeLessThan(300)

  await anybody.post('/api/auth/forgot', { email })
  const token = tokenIn(await mailOf('reset_password'))
  const password = 'another long engine poem'
  const reset = await anybody.post('/api/auth/reset', { token, password })
  expect(reset.status, reset.text).toBeLessThan(300)
  expect((await anybody.post('/api/auth/login', { email, password })).status).toBe(200)
  expect((await mailOf('password_changed')).subject).toBe('Your password was changed')
})

const walk = test.skipIf(chromium === undefined)
walk(
  'in development the links of mails lead to pages, where an address is confirmed and a password chosen',
  { timeout: 240_000 },
  async () => {
    const port = await freePort()
    const shop = await createTestApp({ PORT: String(port) })
    onTestFinished(shop.close)
    await shop.app.listen({ host: '127.0.0.1', port })
    const browser = await openBrowser(String(chromium))
    onTestFinished(browser.close)
    const tab = await browser.open()
    const anybody = shop.as(null)
    const linkIn = async (template: string) => {
      const find = async () => {
        const { items } = (await anybody.get(`/mails?to=${email}`)).json
        const id = items.find((each: { template: string }) => each.template === template)?.id
        return id && /http:\S+#token=\S+/.exec((await anybody.get(`/mails/${id}`)).json.body_text)?.[0]
      }
      await expect.poll(find, PATIENCE).toBeDefined()
      return String(await find())
    }
    await anybody.post('/api/auth/register', { email, password: 'a long engine poem' })
    const link = await linkIn('verify_email')
    await tab.goto(link)
    await tab.click('button', 'Confirm it')
    await tab.sees('Thank you.')
    await tab.goto('about:blank')
    await tab.goto(link)
    await tab.click('button', 'Confirm it')
    await tab.sees('This link is not valid any more.')

    await anybody.post('/api/auth/forgot', { email })
    await tab.goto(await linkIn('reset_password'))
    await tab.type('[name="password"]', 'password')
    await tab.click('button', 'Set it')
    await tab.sees('at least 12 characters')
    const password = 'another long engine poem'
    await tab.type('[name="password"]', password)
    await tab.click('button', 'Set it')
    await tab.sees('Your password is changed.')
    const { status } = await anybody.post('/api/auth/login', { email, password })
    expect(status).toBe(200)
    // What the API refuses, a browser notes as an error.
    expect(tab.problems.filter(problem => !problem.includes('400'))).toEqual([])
    expect(tab.addresses.filter(address => address.includes('token='))).toEqual([])
  }
)

walk('an order of an account is shown to its owner, who logs in there', { timeout: 240_000 }, async () => {
  const { variantId, anybody, logIn, storefront } = await openMugShop('embedded', 3)
  const account = { email, password: 'a long engine poem' }
  await done(anybody.post('/api/auth/register', account))
  const order = await done(
    (await logIn(account)).post('/api/orders', {
      items: [{ variant_id: variantId, quantity: 1 }],
      shipping_address: STOCKHOLM
    })
  )
  const browser = await openBrowser(String(chromium))
  onTestFinished(browser.close)
  const tab = await browser.open()
  await tab.goto(`${storefront}/shop/orders/${order.id}`)
  await tab.type('[name="email"]', email)
  await tab.type('[name="password"]', 'not a long engine poem')
  await tab.click('button', 'Log in')
  await tab.sees('do not belong together')
  await tab.type('[name="password"]', account.password)
  await tab.click('button', 'Log in')
  await tab.sees('We have your order.')
  await tab.evaluate('window.confirm = () => true')
  await tab.click('button', 'Cancel the order')
  await tab.sees('It is canceled.')
  await tab.click('header a', 'Orders')
  await tab.click('a', order.number)
  await tab.sees('It is canceled.')
})
