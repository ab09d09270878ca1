import { expect } from 'vitest'
import { createProduct } from './support/catalog.ts'
import { freePort } from './support/free-port.ts'
import { expectAccessible, keyboardOf, useBrowser, walk } from './support/front.ts'
import { sent, useOrders } from './support/orders.ts'
import { useSandbox } from './support/payments.ts'

const LONG = { timeout: 240_000 }
const open = useBrowser()

const EVIL = '<img src="x" onerror="document.title = 1">'
const ADA = {
  email: 'ada@example.com',
  'shipping_address/name': 'Ada Lovelace',
  'shipping_address/line1': 'Drottninggatan 1',
  'shipping_address/postal_code': '111 51',
  'shipping_address/city': 'Stockholm'
}

/** A shop that listens and can be paid in, and a browser at its front. */
async function useFront(languages = 'en-US,en') {
  const port = await freePort()
  const sandbox = await useSandbox(port)
  const shop = await useOrders({ settings: { CARTWRIGHT__PAYMENTS__SANDBOX__URL: sandbox.url } })
  const variant = (colour: string, price: number) => ({ sku: colour, price, attributes: { Colour: colour } })
  await createProduct(shop, {
    name: 'Bowl',
    slug: 'bowl',
    description: `<p>Wide &amp; low</p>${EVIL}`,
    brand: EVIL,
    variants: [variant('White', 1_800), variant(EVIL, 1_900)]
  })
  await shop.app.listen({ host: '127.0.0.1', port })
  const origin = `http://127.0.0.1:${port}`
  const tab = await open(`${origin}/shop`, { languages })
  return { ...shop, tab, sandbox, origin }
}
type Front = Awaited<ReturnType<typeof useFront>>

async function putBowlIntoCart({ tab }: Front) {
  await tab.click('a', 'Bowl')
  await tab.click('.choices label', EVIL)
  await tab.sees('$19.00', '.price')
  await tab.click('button', 'Add to cart')
  await tab.click('a', 'Go to the cart')
  await tab.sees('$19.00', '.sums')
}

/** Up to the button that orders. */
async function fillCheckout({ tab }: Front) {
  await tab.click('a', 'Go to the checkout')
  await tab.sees('Contact')
  await tab.choose('[name="shipping_address/country"]', 'SE')
  for (const [name, text] of Object.entries(ADA)) await tab.type(`[name="${name}"]`, text)
  await tab.click('.option', 'Express')
  await tab.sees('$9.90', '.sums')
}

walk(
  "in the shop front a guest's card is declined, another needs authentication, and the order is shown as paid",
  LONG,
  async () => {
    const front = await useFront()
    const { tab, orders, sandbox } = front
    await putBowlIntoCart(front)
    await tab.choose('.lines input', '2')
    await tab.sees('$38.00', '.sums')
    await tab.sees('2', '#count')

    await tab.click('a', 'Go to the checkout')
    await tab.click('button', 'Order for')
    await tab.sees('is required', '#field-shipping_address-city-wrong')
    expect(await tab.evaluate('document.activeElement.name')).toBe('email')
    expect(await orders()).toEqual([])
    await tab.choose('[name="shipping_address/country"]', 'US')
    await tab.sees('Alabama', 'select[name="shipping_address/region"]')
    await tab.choose('[name="shipping_address/country"]', 'SE')
    await tab.sees('State, province or region (optional)')
    await tab.click('header nav a', 'Cart')
    await fillCheckout(front)
    await tab.sees('$47.90', '.sums .total')
    await tab.click('button', 'Order for $47.90')
    await tab.sees('We have received your order.')
    await tab.sees('Payment: not paid yet.')

    await tab.click('button', 'Pay $47.90')
    await tab.click('button', 'Be declined')
    await tab.sees('The payment was declined.')
    await tab.click('a', 'Back to the shop')
    await tab.sees('The payment was declined.')
    await tab.click('button', 'Pay $47.90')
    await tab.click('button', 'Pay with a card that requires authentication')
    await tab.click('button', 'Confirm that it is me')
    await tab.sees('succeeded')
    await tab.click('a', 'Back to the shop')
    await tab.sees('Your order is paid')
    await tab.sees('Payment: paid.')
    expect(await tab.evaluate(`document.querySelector('#count').textContent`)).toBe('')

    const [order, ...others] = await orders()
    expect(others).toEqual([])
    expect(order).toMatchObject({ payment_status: 'paid', email: ADA.email })
    expect(await sandbox.objects()).toContainEqual(
      expect.objectContaining({ status: 'succeeded', amount: 4_790 })
    )
    expect(tab.problems).toEqual([])
    expect(tab.addresses.filter(address => address.includes('ort_'))).toEqual([])
  }
)

walk(
  'the shop front shows product names and descriptions as text, even when they contain markup',
  LONG,
  async () => {
    const { tab } = await useFront()
    await tab.click('a', 'Bowl')
    await tab.sees(EVIL, 'fieldset')
    await tab.sees('Wide & low')
    expect(await tab.evaluate('document.querySelectorAll("main img").length')).toBe(0)
    expect(
      await tab.evaluate(
        `(() => { try { document.body.innerHTML = '<b></b>' } catch { return 'refused' } })()`
      )
    ).toBe('refused')
  }
)

walk('a word that is longer than the page makes no page of the shop front wider', LONG, async () => {
  const { tab, origin, ...shop } = await useFront()
  const long = 'Donaudampf'.repeat(10)
  const variant = { sku: 'long', price: 123_456_789, attributes: { [long]: long } }
  await createProduct(shop, { name: long, slug: 'long', brand: long, variants: [variant] })
  const fits = async (hash: string, selector: string) => {
    await tab.goto(`${origin}/shop${hash}`)
    await tab.sees(long, selector)
    const [wanted, room] = await tab.evaluate<[number, number]>(
      `(page => [page.scrollWidth, page.clientWidth])(document.documentElement)`
    )
    expect(wanted, hash).toBe(room)
  }
  await fits('#/', '.products')
  await fits('#/products/long', 'h1')
  await tab.click('button', 'Add to cart')
  await tab.sees('Added to your cart.')
  await fits('#/cart', '.lines')
  await fits('#/checkout', '.bought')
})

walk(
  'the shop front strikes out an option that cannot be bought before the shopper chooses it',
  LONG,
  async () => {
    const { tab, origin, ...shop } = await useFront()
    const variants = ['Red', 'Blue'].map(Colour => ({ sku: Colour, price: 500, attributes: { Colour } }))
    const cup = await createProduct(shop, { name: 'Cup', slug: 'cup', variants })
    const [red] = cup.variants
    const body = { on_hand: 0, reason: 'broken' }
    await shop.request('PUT', `/api/inventory/levels/${red.id}`, { token: 'admin', body })
    await tab.goto(`${origin}/shop#/products/cup`)
    await tab.sees('Red', '.choices .out')
    expect(await tab.evaluate(`document.querySelectorAll('.choices .out').length`)).toBe(1)
    expect(await tab.evaluate(`document.querySelector('.choices :checked').value`)).toBe('Blue')
  }
)

walk(
  'an order whose response is lost is placed once by the shop front, also when the page is loaded again',
  LONG,
  async () => {
    const front = await useFront()
    const { tab, orders } = front
    await putBowlIntoCart(front)
    await fillCheckout(front)
    await tab.losesAnswersOf('*/api/orders/guest')
    await tab.click('button', 'Order for')
    await expect.poll(orders).toHaveLength(1)
    await tab.reload()
    await tab.sees('Your order is being placed')
    await tab.losesNothing()
    await tab.sees('We have received your order.')
    expect(await orders()).toHaveLength(1)
    const [{ token } = {}] = await tab.evaluate<{ token?: string }[]>(
      `JSON.parse(localStorage.getItem('cartwright-shop.orders'))`
    )
    expect(token).toMatch(/^ort_/)
  }
)

walk('in the shop front an unpaid order is opened by its link, and canceled', LONG, async () => {
  const { tab, anonymous, mug, orders, origin } = await useFront()
  const body = { ...sent(mug), email: ADA.email }
  const { id, order_token } = (await anonymous.post('/api/orders/guest', body)).json
  await tab.goto(`${origin}/shop#/orders/${id}/${order_token}`)
  await tab.sees('We have received your order.')
  await tab.sees('Please pay until ')
  await tab.evaluate('window.confirm = () => true')
  await tab.click('button', 'Cancel the order')
  await tab.sees('Your order is canceled.')
  await tab.sees('Payment: not paid yet.')
  expect(await tab.evaluate(`document.querySelectorAll('main button').length`)).toBe(0)
  expect(await orders()).toMatchObject([{ state: 'canceled' }])
})

walk('in a shop with several markets, the shop front shows prices of the chosen market', LONG, async () => {
  const { tab, made } = await useFront()
  await tab.sees('Bowl')
  expect(await tab.evaluate(`document.querySelector('#markets').hidden`)).toBe(true)
  const market = { code: 'de', name: 'Germany', countries: ['DE'], currency: 'EUR', locale: 'de-DE' }
  await made('markets', { ...market, prices_include_tax: true })
  await tab.reload()
  await tab.sees('Germany (EUR)', '#markets')
  await tab.choose('#markets select', 'de')
  await tab.sees('Not sold here', '.products')
  await tab.reload()
  await tab.sees('Not sold here', '.products')
})

walk('a German guest buys in the shop front with the keyboard alone, at 360 pixels width', LONG, async () => {
  const { tab, orders, admin } = await useFront('de-DE,de,en')
  await tab.view(360, 'light')
  const { press, fill } = keyboardOf(tab)
  /** Waits for a text, checks the page, loads it again, and waits for the text again. */
  const sees = async (text: string, selector?: string) => {
    await tab.sees(text, selector)
    await expectAccessible(tab)
    await tab.view(360, 'light')
    await tab.reload()
    await tab.sees(text, selector)
  }
  await sees('Alle Produkte', 'h1')
  expect(await tab.evaluate('document.documentElement.lang')).toBe('de')
  await press('Bowl')
  await sees('18,00', '.product .price')
  await press('In den Warenkorb')
  await tab.sees('Liegt im Warenkorb.')
  await press('Zum Warenkorb')
  await sees('18,00', '.sums')
  await press('Zur Kasse')
  await sees('Lieferadresse')
  const form = {
    ...ADA,
    'shipping_address/line1': 'Lindenstraße 1',
    'shipping_address/postal_code': '1',
    'shipping_address/city': 'Berlin'
  }
  await fill(form)
  await press('kostenpflichtig bestellen')
  await tab.sees('ist keine Postleitzahl von DE', '#field-shipping_address-postal_code-wrong')
  const focused = () => tab.evaluate('document.activeElement.name')
  await expect.poll(focused).toBe('shipping_address/postal_code')
  await tab.type('[name="shipping_address/postal_code"]', '10969')
  await press('kostenpflichtig bestellen')
  await sees('Wir haben Ihre Bestellung erhalten.')
  await tab.sees('Zahlung: noch nicht bezahlt.')
  await press('22,90')
  await tab.sees('Sandbox')
  await press('Pay')
  await tab.sees('succeeded')
  await press('Back to the shop')
  await tab.sees('Ihre Bestellung ist bezahlt.')
  const [order] = await orders()
  const sentParcel = await admin.post(`/api/admin/orders/${order?.id}/shipments`, { carrier: 'Post' })
  await tab.sees('Ihre Bestellung ist unterwegs.')
  const delivered = { status: 'delivered', occurred_at: new Date().toISOString() }
  const path = `/api/admin/shipping/shipments/${sentParcel.json.shipments[0].id}/events`
  expect((await admin.post(path, delivered)).status).toBe(200)
  await tab.reload()
  await sees('Paket Post: zugestellt.')
  expect(tab.problems).toEqual([])

  await tab.choose('footer select', 'en')
  await tab.sees('Your order is on its way.')
  expect(await tab.evaluate('document.documentElement.lang')).toBe('en')
  await tab.reload()
  await tab.sees('Your order is on its way.')
})
