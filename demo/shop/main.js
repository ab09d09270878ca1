import { accountPage, deletionPage } from './account.js'
import { addressesPage } from './addresses.js'
import { call } from './api.js'
import { browse } from './browse.js'
import { cart } from './cart.js'
import { readCart } from './carts.js'
import { checkout } from './checkout.js'
import { el, link, page } from './dom.js'
import { errorTexts } from './errors.js'
import { guestDataPage } from './guestdata.js'
import { showAccount, showLayout } from './layout.js'
import { logInFirst, logInPage } from './login.js'
import { order } from './order.js'
import { orders } from './orders.js'
import { product } from './product.js'
import { forgottenPasswordPage, newPasswordPage, registrationPage, verificationPage } from './registration.js'
import { LoginRequired } from './session.js'
import { chosenMarket } from './storage.js'
import { t } from './texts.js'

/** Pages by the first part of the address after `#/`, such as `products`. */
const PAGES = {
  __proto__: null,
  '': browse,
  products: product,
  cart,
  checkout,
  orders: route => (route.parts.length === 0 ? orders(route) : order(route)),
  'log-in': logInPage,
  register: registrationPage,
  'guest-data': guestDataPage,
  'verify-email': verificationPage,
  'forgot-password': forgottenPasswordPage,
  'reset-password': newPasswordPage,
  account: route => (ACCOUNT_PAGES[route.parts[0]] ?? accountPage)(route)
}
const ACCOUNT_PAGES = { __proto__: null, addresses: addressesPage, delete: deletionPage }
const main = document.getElementById('main')
const markets = { current: undefined }
let shownPages = 0

/** Replaces the address of a link in a mail, `/shop/orders/…#token=…`, by that of its page, `/shop#/orders/…/…`. */
function rewriteMailLink() {
  const [, page] = /^\/shop(\/.+)/.exec(location.pathname) ?? []
  if (page === undefined) return
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  history.replaceState(null, '', `/shop#${page}${token === null ? '' : `/${token}`}`)
}

/** The parts of `#/orders/…?…`. Tokens are after the `#`, because browsers send that part to no server. */
function currentRoute() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  const [name = '', ...parts] = path.split('/').map(part => decodeURIComponent(part))
  return { name, parts, query: new URLSearchParams(query), markets, reload: showCurrentPage }
}

/** Shows the page of the current address. The previous page stays until every response has arrived. */
async function showCurrentPage() {
  shownPages += 1
  const nth = shownPages
  main.setAttribute('aria-busy', 'true')
  const { title, content } = await renderPage()
  if (nth !== shownPages) return
  const isFirst = main.querySelector('h1') === null
  document.title = title
  showAccount()
  main.replaceChildren(...content.filter(Boolean))
  main.removeAttribute('aria-busy')
  scrollTo(0, 0)
  // Screen readers announce the new page.
  if (!isFirst) main.querySelector('h1').focus({ preventScroll: true })
}

async function renderPage() {
  try {
    const route = currentRoute()
    return await (PAGES[route.name] ?? missingPage)(route)
  } catch (error) {
    if (error instanceof LoginRequired) return logInFirst(showCurrentPage)
    const again = el('button', { onclick: showCurrentPage }, t.page.retry)
    const words = errorTexts(error).map(word => el('p', { role: 'alert' }, word))
    return page(t.page.failed, ...words, el('p', {}, again, ' ', link('#/', t.page.home)))
  }
}
const missingPage = () => page(t.page.missing, el('p', {}, link('#/', t.page.home)))

/** Shows the choice of a market when there are several. All prices are those of the chosen market. */
async function showMarkets() {
  const { items } = await call('GET', '/markets')
  const isThere = code => items.some(market => market.code === code)
  if (!isThere(chosenMarket.get())) chosenMarket.clear()
  const current = () =>
    items.find(({ code, is_default }) => (chosenMarket.get() ? code === chosenMarket.get() : is_default))
  markets.current = current()
  if (items.length < 2) return
  const label = document.getElementById('markets')
  const select = label.querySelector('select')
  select.replaceChildren(
    ...items.map(({ code, name, currency }) =>
      el('option', { value: code, selected: code === markets.current?.code }, `${name} (${currency})`)
    )
  )
  select.addEventListener('change', () => {
    chosenMarket.set(select.value)
    markets.current = current()
    // A cursor is valid in its market only.
    if (currentRoute().query.has('cursor')) location.hash = '#/'
    else showCurrentPage()
  })
  label.hidden = false
}

/** Shows the name of the shop, which `GET /` returns as JSON. */
async function showShopName() {
  const response = await fetch('/', { headers: { accept: 'application/json' } })
  document.querySelector('.brand').textContent = (await response.json()).name
}

rewriteMailLink()
showLayout()
addEventListener('hashchange', showCurrentPage)
showShopName().catch(() => {})
await showMarkets().catch(() => {})
// Skipped when the shopper has clicked a link meanwhile, because showing the page again would empty its forms.
await Promise.all([shownPages === 0 && showCurrentPage(), readCart().catch(() => {})])
