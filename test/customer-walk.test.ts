import { expect, test } from 'vitest'
import { runsEveryCase } from './lanes/every-case.ts'
import { STOCKHOLM } from './support/checkouts.ts'
import { expectAccessible, keyboardOf, type Tab, useFront, walk } from './support/front.ts'
import { enrol, nextCode } from './support/second-factor.ts'

const LONG = { timeout: 240_000 }
/** A walk whose requests are tested without a browser, beside the modules that it uses. */
const expensiveWalk = runsEveryCase ? walk : test.skip
const PASSWORD = 'a long engine poem'
const front = useFront()

const newEmail = () => `ada-${crypto.randomUUID()}@example.com`
const register = async (email = newEmail()) => {
  const account = { email, password: PASSWORD }
  const { access_token } = await front.done(front.anonymous.post('/api/auth/register', account))
  return { email, caller: front.as(access_token) }
}
const sellBowl = () => {
  const slug = `bowl-${crypto.randomUUID()}`
  return front.sell({ name: `Bowl ${slug}`, slug, variants: [{ sku: slug, price: 1_800 }] })
}

async function logIn(tab: Tab, email: string, password = PASSWORD) {
  await tab.type('[name="email"]', email)
  await tab.type('[name="password"]', password)
  await tab.click('main button', 'Log in')
}

/** What the browser stores of the session, and what the page can say with it. */
const storedIn = (tab: Tab) =>
  tab.evaluate<Record<string, string>>('({ ...localStorage, ...sessionStorage })')

walk(
  'in the shop front a customer registers, buys, pays after a declined card, and sees the delivery and refund',
  LONG,
  async () => {
    const bowl = await sellBowl()
    const email = newEmail()
    const tab = await front.open(`#/products/${bowl.slug}`)
    /** Waits for a text, loads the page again, and waits for it again. */
    const seesAlsoAfterReload = async (text: string, selector?: string) => {
      await tab.sees(text, selector)
      await expectAccessible(tab)
      await tab.reload()
      await tab.sees(text, selector)
    }
    await tab.click('button', 'Add to cart')
    await tab.sees('Added to your cart.')
    await tab.click('a', 'Go to the cart')
    await seesAlsoAfterReload('$18.00', '.sums')

    await tab.click('nav a', 'Log in')
    await tab.click('a', 'Create an account')
    await tab.sees('Create an account', 'h1')
    await expectAccessible(tab)
    await tab.type('[name="email"]', 'ada')
    await tab.type('[name="password"]', 'password')
    await tab.click('button', 'Create the account')
    await tab.sees('must be at least 12 characters', '#field-password-wrong')
    expect(await tab.evaluate(`document.querySelector('#field-email-wrong').textContent`)).not.toBe('')
    await tab.type('[name="name"]', 'Ada Lovelace')
    await tab.type('[name="email"]', email)
    await tab.type('[name="password"]', PASSWORD)
    await tab.click('button', 'Create the account')
    await tab.sees('Your account', 'h1')
    await tab.sees('1', '#count')
    await seesAlsoAfterReload('Your e-mail address is not confirmed yet.')
    await tab.goto(await front.linkIn('verify_email', email))
    await tab.click('button', 'Confirm the address')
    await tab.sees('Your e-mail address is confirmed.')

    await tab.click('nav a', 'Account')
    await tab.click('main a', 'Addresses')
    await tab.click('a', 'Add an address')
    await tab.choose('[name="address/country"]', 'SE')
    for (const name of ['name', 'line1', 'postal_code', 'city'] as const)
      await tab.type(`[name="address/${name}"]`, STOCKHOLM[name])
    await expectAccessible(tab)
    await tab.click('button', 'Save')
    await seesAlsoAfterReload('Default for deliveries')

    await tab.click('nav a', 'Cart')
    await tab.click('a', 'Go to the checkout')
    await seesAlsoAfterReload(`You are logged in as ${email}.`)
    expect(await tab.evaluate(`document.querySelector('[name="shipping_address/city"]').value`)).toBe(
      'Stockholm'
    )
    await tab.click('.option', 'Express')
    await tab.sees('$27.90', '.sums .total')
    await tab.click('button', 'Order for $27.90')
    await seesAlsoAfterReload('Payment: not paid yet.')

    await tab.click('button', 'Pay $27.90')
    await tab.click('button', 'Be declined')
    await tab.sees('The payment was declined.')
    await tab.click('a', 'Back to the shop')
    await seesAlsoAfterReload('The payment was declined. You can try again.')
    await tab.click('button', 'Pay $27.90')
    await tab.click('button', 'Pay with a card that requires authentication')
    await tab.click('button', 'Confirm that it is me')
    await tab.sees('succeeded')
    await tab.click('a', 'Back to the shop')
    await seesAlsoAfterReload('Payment: paid.')

    const id = await tab.evaluate<string>(`location.hash.split('/')[2]`)
    const path = `/api/admin/orders/${id}`
    const { number } = await front.done(front.admin.get(path))
    await front.done(front.admin.post(`${path}/shipments`, { carrier: 'Post', tracking_number: 'PN42' }))
    await tab.reload()
    await tab.sees('Your order is on its way.')
    await tab.sees('Parcel Post PN42: on its way.')
    const [{ id: shipment }] = (await front.done(front.admin.get(path))).shipments
    const delivered = { status: 'delivered', occurred_at: new Date().toISOString() }
    await front.done(front.admin.post(`/api/admin/shipping/shipments/${shipment}/events`, delivered))
    await tab.reload()
    await seesAlsoAfterReload('Parcel Post PN42: delivered.')

    await front.done(front.admin.post(`${path}/refunds`, { amount: 500, reason: 'a scratch' }))
    await tab.reload()
    await tab.sees('Payment: partly refunded.')
    await tab.sees('$5.00 on')
    await front.done(front.admin.post(`${path}/transition`, { action: 'complete' }))
    await tab.click('nav a', 'Orders')
    await seesAlsoAfterReload('Your order is complete.')
    await tab.click('a', number)
    await tab.sees('Your order is complete.', '.badge')
    await tab.click('.bought a', 'Bowl')
    await tab.sees('Write or change your review')
    expect(tab.problems.filter(problem => !/\b(400|402|404)\b/.test(problem))).toEqual([])
    expect(tab.addresses.filter(address => address.includes('token='))).toEqual([])
  }
)

walk(
  'the shop front keeps tokens where other scripts cannot read them, and log-out ends the session in every tab',
  LONG,
  async () => {
    const { email } = await register()
    const tab = await front.open('#/orders')
    await tab.click('main a', 'Log in')
    await logIn(tab, email, 'not a long engine poem')
    await tab.sees('The e-mail address or the password is wrong.')
    await logIn(tab, email)
    await tab.sees('Your account', 'h1')
    const stored = await storedIn(tab)
    expect(Object.keys(stored)).toEqual(['cartwright-shop.refresh'])
    const refresh_token = JSON.parse(stored['cartwright-shop.refresh'] ?? '')
    expect(refresh_token).not.toMatch(/^ey/)

    const other = await front.open('#/account', { profile: tab.profile })
    await other.sees('Your account', 'h1')
    const newest = JSON.parse((await storedIn(other))['cartwright-shop.refresh'] ?? '')
    await tab.click('button', 'Log out')
    await tab.sees('Log in', 'nav')
    await other.sees('Please log in to see this page.')
    expect(await storedIn(tab)).toEqual({})
    for (const token of [refresh_token, newest]) {
      const { json } = await front.anonymous.post('/api/auth/refresh', { refresh_token: token })
      expect(json.code).toBe('AUTH_INVALID_REFRESH_TOKEN')
    }
  }
)

expensiveWalk(
  'a page of the shop front asks for a log-in when its session was ended in another tab',
  LONG,
  async () => {
    const { email, caller } = await register()
    const tab = await front.open('#/log-in')
    await logIn(tab, email)
    await tab.sees('Your account', 'h1')
    const { items } = await front.done(caller.get('/api/auth/sessions'))
    for (const { id, current } of items)
      if (!current) await front.done(caller.delete(`/api/auth/sessions/${id}`))
    await tab.evaluate(`location.hash = '#/account/addresses'`)
    await tab.sees('Please log in to see this page.')
    await logIn(tab, email)
    await tab.sees('You have no saved addresses.')
  }
)

expensiveWalk('a form of the shop front whose session was ended elsewhere shows that', LONG, async () => {
  const { email, caller } = await register()
  const tab = await front.open('#/log-in')
  await logIn(tab, email)
  await tab.sees('Your account', 'h1')
  const { items } = await front.done(caller.get('/api/auth/sessions'))
  for (const { id, current } of items)
    if (!current) await front.done(caller.delete(`/api/auth/sessions/${id}`))
  await tab.click('button', 'Save')
  await tab.sees('Your session has ended. Please log in again.')
  await tab.click('.problem a', 'Log in')
  await tab.sees('Log in', 'h1')
  await logIn(tab, email)
  await tab.sees('Your account', 'h1')
})

walk('the shop front never repeats an order without a response as another customer', LONG, async () => {
  const [ada, bob] = [await register(), await register()]
  const bowl = await sellBowl()
  for (const { caller } of [ada, bob]) {
    await front.done(caller.post('/api/auth/addresses', { address: STOCKHOLM }))
    await front.done(caller.post('/api/cart', { variant_id: bowl.variants[0].id, quantity: 1 }))
  }
  const tab = await front.open('#/log-in/checkout')
  await logIn(tab, ada.email)
  await tab.sees('$22.90', '.sums .total')
  await tab.losesAnswersOf('*/api/orders')
  await tab.click('button', 'Order for $22.90')
  await expect.poll(async () => (await front.done(ada.caller.get('/api/orders'))).items).toHaveLength(1)
  await tab.goto('about:blank')
  await tab.losesNothing()
  const other = await front.open('#/account', { profile: tab.profile })
  await other.click('button', 'Log out')
  await other.sees('Log in', 'nav')
  await other.goto(`${await other.evaluate('location.origin')}/shop#/log-in/checkout`)
  await other.sees('Log in', 'h1')
  await logIn(other, bob.email)
  await other.sees('$22.90', '.sums .total')
  await other.sees(`You are logged in as ${bob.email}.`)
  expect((await front.done(bob.caller.get('/api/orders'))).items).toEqual([])
})

expensiveWalk(
  'in the shop front a customer who forgot the password sets a new one by the link of a mail',
  LONG,
  async () => {
    const { email } = await register()
    const tab = await front.open('#/log-in')
    await tab.click('a', 'Forgot your password?')
    await tab.sees('Forgot your password?', 'h1')
    await tab.type('[name="email"]', email)
    await tab.click('button', 'Send the link')
    await tab.sees(`If ${email} has an account here`)
    const link = await front.linkIn('reset_password', email)
    await tab.goto(link)
    await tab.type('[name="password"]', 'password')
    await tab.click('button', 'Set the password')
    await tab.sees('must be at least 12 characters', '.wrong')
    await tab.type('[name="password"]', 'another long engine poem')
    await tab.click('button', 'Set the password')
    await tab.sees('Your password is changed.')
    await tab.click('main a', 'Log in')
    await tab.sees('Log in', 'h1')
    await logIn(tab, email, 'another long engine poem')
    await tab.sees('Your account', 'h1')
    await tab.goto('about:blank')
    await tab.goto(link)
    await tab.type('[name="password"]', 'a third long engine poem')
    await tab.click('button', 'Set the password')
    await tab.sees('This link is no longer valid.')
  }
)

expensiveWalk(
  'in the shop front a customer changes the account, downloads its data and deletes it',
  LONG,
  async () => {
    const { email } = await register()
    const tab = await front.open('#/log-in')
    await logIn(tab, email)
    await tab.sees('Your account', 'h1')
    await expectAccessible(tab)
    await tab.type('[name="name"]', 'Ada Lovelace')
    await tab.type('[name="phone"]', '+46 70 123 45 67')
    await tab.click('.check input')
    await tab.click('button', 'Save')
    await tab.sees('Saved.')
    const newAddress = newEmail()
    await tab.type('[name="email"]', newAddress)
    await tab.type('[name="password"]', 'not a long engine poem')
    await tab.click('button', 'Change the address')
    await tab.sees('must be your current password', 'main')
    await tab.type('[name="password"]', PASSWORD)
    await tab.click('button', 'Change the address')
    await tab.sees(`We sent a mail to ${newAddress}.`)
    await tab.type('[name="current_password"]', PASSWORD)
    await tab.type('[name="new_password"]', 'another long engine poem')
    await tab.click('button', 'Change the password')
    await tab.sees('All other devices are logged out.')
    await tab.reload()
    const name = () => tab.evaluate(`document.querySelector('[name="name"]')?.value`)
    await expect.poll(name).toBe('Ada Lovelace')
    await tab.evaluate(`{
      const createObjectURL = URL.createObjectURL
      URL.createObjectURL = file => {
        file.text().then(text => { window.saved = text })
        return createObjectURL(file)
      }
    }`)
    await tab.click('button', 'Download your data')
    await expect
      .poll(() => tab.evaluate<string>('window.saved'), { timeout: 60_000 })
      .toContain('Ada Lovelace')
    await tab.click('a', 'Delete the account')
    await tab.sees('Delete the account', 'h1')
    await tab.type('[name="password"]', PASSWORD)
    await tab.click('button', 'Delete the account for good')
    await tab.sees('must be your current password', 'main')
    await tab.type('[name="password"]', 'another long engine poem')
    await tab.click('button', 'Delete the account for good')
    await tab.sees('Your account is deleted.')
    expect(await storedIn(tab)).toEqual({})
    const { json } = await front.anonymous.post('/api/auth/login', {
      email,
      password: 'another long engine poem'
    })
    expect(json.code).toBe('AUTH_INVALID_CREDENTIALS')
  }
)

expensiveWalk(
  'in the shop front a customer writes, changes and deletes a review, which others read as plain text',
  LONG,
  async () => {
    const evil = '<img src="x" onerror="document.title = 1">'
    const { email } = await register()
    const bowl = await sellBowl()
    const tab = await front.open(`#/products/${bowl.slug}`)
    await tab.sees('There are no reviews yet.')
    await tab.click('a', 'Log in to write a review')
    await tab.sees('Log in', 'h1')
    await logIn(tab, email)
    await tab.click('button', 'Write or change your review')
    await tab.choose('[name="rating"]', '4')
    await tab.type('[name="title"]', evil)
    await tab.type('[name="body"]', 'Holds more than it looks.')
    await tab.type('[name="author"]', 'Ada')
    await tab.click('button', 'Publish')
    await tab.sees('Your review is published.')
    await tab.sees(evil, '.reviews')
    await tab.sees('4 of 5 stars, 1 review')
    await expectAccessible(tab)
    await tab.choose('[name="rating"]', '2')
    await tab.click('button', 'Publish')
    await tab.sees('2 of 5 stars, 1 review')
    const guest = await front.open(`#/products/${bowl.slug}`)
    await guest.sees(evil, '.reviews')
    expect(await guest.evaluate('document.querySelectorAll("main img").length')).toBe(0)
    await tab.click('button', 'Delete your review')
    await tab.sees('There are no reviews yet.')
  }
)

expensiveWalk('in the shop front a customer adds an earlier guest order to the account', LONG, async () => {
  const { email } = await register()
  const bowl = await sellBowl()
  const body = {
    items: [{ variant_id: bowl.variants[0].id, quantity: 1 }],
    email,
    shipping_address: STOCKHOLM
  }
  const { id, order_token, number } = await front.done(front.anonymous.post('/api/orders/guest', body))
  const tab = await front.open(`#/orders/${id}/${order_token}`)
  await tab.sees('We have received your order.')
  await tab.click('nav a', 'Log in')
  await tab.sees('Log in', 'h1')
  await logIn(tab, email)
  await tab.click('main a', 'Orders')
  await tab.sees('Ordered without an account in this browser')
  await tab.click('a', number)
  await tab.click('button', 'Add this order to my account')
  await expect.poll(() => tab.evaluate('location.hash')).toBe(`#/orders/${id}`)
  await tab.sees(`Order ${number}`, 'h1')
  await tab.click('nav a', 'Orders')
  await tab.sees('We have received your order.')
  expect(await tab.evaluate(`document.querySelector('main').innerText.includes('without an account')`)).toBe(
    false
  )
  expect((await storedIn(tab))['cartwright-shop.orders']).toBe('[]')
})

expensiveWalk('two tabs of one customer in the shop front order one cart once', LONG, async () => {
  const { email, caller } = await register()
  const bowl = await sellBowl()
  await front.done(caller.post('/api/auth/addresses', { address: STOCKHOLM }))
  await front.done(caller.post('/api/cart', { variant_id: bowl.variants[0].id, quantity: 1 }))
  const tab = await front.open('#/log-in/checkout')
  await logIn(tab, email)
  await tab.sees('$22.90', '.sums .total')
  const other = await front.open('#/checkout', { profile: tab.profile })
  await other.sees('$22.90', '.sums .total')
  await tab.click('button', 'Order for $22.90')
  await tab.sees('We have received your order.')
  await other.click('button', 'Order for $22.90')
  await other.sees('Your cart is empty.')
  const { items } = await front.done(caller.get('/api/orders'))
  expect(items).toHaveLength(1)
})

expensiveWalk(
  "what a guest entered at the shop front's checkout is still there after the log-in",
  LONG,
  async () => {
    const { email } = await register()
    const bowl = await sellBowl()
    const tab = await front.open(`#/products/${bowl.slug}`)
    await tab.click('button', 'Add to cart')
    await tab.sees('Added to your cart.')
    await tab.click('a', 'Go to the cart')
    await tab.click('a', 'Go to the checkout')
    await tab.choose('[name="shipping_address/country"]', 'SE')
    for (const name of ['name', 'line1', 'postal_code', 'city'] as const)
      await tab.type(`[name="shipping_address/${name}"]`, STOCKHOLM[name])
    await tab.click('.option', 'Express')
    await tab.sees('$27.90', '.sums .total')
    await tab.click('a', 'Do you have an account? Log in')
    await tab.sees('Log in', 'h1')
    await logIn(tab, email)
    await tab.sees(`You are logged in as ${email}.`)
    await tab.sees('$27.90', '.sums .total')
    expect(await tab.evaluate(`document.querySelector('[name="shipping_address/city"]').value`)).toBe(
      STOCKHOLM.city
    )
  }
)

expensiveWalk(
  'in the shop front an administrator with a second factor logs in with a code',
  LONG,
  async () => {
    const account = { email: newEmail(), password: PASSWORD }
    await front.employ(account)
    const { access_token } = await front.done(front.anonymous.post('/api/auth/login', account))
    const { secret } = await enrol(front.as(access_token))
    const tab = await front.open('#/log-in')
    await logIn(tab, account.email)
    await tab.sees('Confirm that it is you')
    expect(await tab.evaluate('document.activeElement.textContent')).toBe('Confirm that it is you')
    await tab.type('[name="code"]', nextCode(secret))
    await tab.click('button', 'Confirm')
    await tab.sees('Your account', 'h1')
    expect(tab.addresses.filter(address => address.endsWith('/api/auth/login'))).toHaveLength(1)
  }
)

expensiveWalk(
  'in a browser whose storage is full, the shop front keeps the cart until the page is closed',
  LONG,
  async () => {
    const bowl = await sellBowl()
    const tab = await front.open(`#/products/${bowl.slug}`)
    await tab.evaluate(`for (let length = 2 ** 23; length >= 1; length /= 2)
    try { localStorage['filling-' + length] = 'x'.repeat(length) } catch {}`)
    await tab.click('button', 'Add to cart')
    await tab.sees('Added to your cart.')
    await tab.click('a', 'Go to the cart')
    await tab.sees('$18.00', '.sums')
    await tab.click('button', 'Remove')
    await tab.sees('Your cart is empty.')
    expect(await tab.evaluate('document.activeElement.tagName')).toBe('H1')
  }
)

expensiveWalk(
  'an unknown address in the shop front shows an error page, and sends no other request to the shop',
  LONG,
  async () => {
    const { email } = await register()
    const tab = await front.open('#/log-in/constructor')
    await logIn(tab, email)
    await tab.sees('This page does not exist', 'h1')
    await tab.evaluate(`location.hash = '#/orders/..%2Fauth%2Fme'`)
    await tab.sees('Something went wrong', 'h1')
    expect(tab.addresses.filter(address => address.endsWith('/auth/me'))).toEqual([])
  }
)

expensiveWalk(
  'in the shop front a guest erases the data of an order by the link of a mail',
  LONG,
  async () => {
    const bowl = await sellBowl()
    const email = newEmail()
    const items = [{ variant_id: bowl.variants[0].id, quantity: 1 }]
    const body = { items, email, shipping_address: STOCKHOLM }
    const { id, order_token, number } = await front.done(front.anonymous.post('/api/orders/guest', body))
    const tab = await front.open(`#/orders/${id}/${order_token}`)
    await tab.sees(number, 'h1')
    await tab.click('nav a', 'Orders')
    await tab.click('a', 'Your data of orders without an account')
    await tab.type('[name="email"]', email)
    await tab.choose('[name="action"]', 'erase')
    await tab.click('button', 'Send the link')
    await tab.sees(`If there are orders with ${email}`)
    await tab.goto(await front.linkIn('guest_data', email))
    await tab.click('button', 'Confirm the request')
    await tab.sees('Some of your orders are not complete yet.')
    await front.done(
      front.anonymous.post(`/api/orders/guest/${id}/cancel`, {}, { 'x-order-token': order_token })
    )
    await expectAccessible(tab)
    await tab.click('button', 'Confirm the request')
    await tab.sees(`Your data is erased from these orders: ${number}.`)
    expect((await front.done(front.admin.get(`/api/admin/orders/${id}`))).email).toBeNull()
  }
)

expensiveWalk(
  'a German customer registers and buys in the shop front with the keyboard alone, at 360 pixels width',
  LONG,
  async () => {
    const bowl = await sellBowl()
    const tab = await front.open(`#/products/${bowl.slug}`, { languages: 'de-DE,de' })
    await tab.view(360, 'light')
    const { press, fill } = keyboardOf(tab)
    await press('In den Warenkorb')
    await tab.sees('Liegt im Warenkorb.')
    await press('Anmelden')
    await tab.sees('Anmelden', 'h1')
    await press('Konto anlegen')
    await tab.sees('Konto anlegen', 'h1')
    await fill({ name: 'Ada', email: newEmail(), password: PASSWORD })
    await press('Konto anlegen')
    await tab.sees('Ihr Konto', 'h1')
    await press('Adressen')
    await tab.sees('Sie haben keine gespeicherten Adressen.')
    await press('Adresse hinzufügen')
    await tab.sees('Neue Adresse', 'h1')
    await fill({
      'address/name': 'Ada Lovelace',
      'address/line1': 'Lindenstraße 1',
      'address/postal_code': '10969',
      'address/city': 'Berlin'
    })
    await press('Speichern')
    await tab.sees('10969 Berlin', 'address')
    await press('Warenkorb')
    await tab.sees('18,00', '.sums')
    await press('Zur Kasse')
    await tab.sees('Für 22,90', 'aside button')
    await press('kostenpflichtig bestellen')
    await tab.sees('Wir haben Ihre Bestellung erhalten.')
    await press('22,90')
    await tab.sees('Sandbox')
    await press('Pay')
    await tab.sees('succeeded')
    await press('Back to the shop')
    await tab.sees('Ihre Bestellung ist bezahlt.')
    await press('Konto')
    await tab.sees('Ihr Konto', 'h1')
    await press('Abmelden')
    await tab.sees('Alle Produkte', 'h1')
    expect(await storedIn(tab)).toEqual({})
    expect(tab.problems).toEqual([])
  }
)
