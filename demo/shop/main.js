import { resetPassword, verifyEmail } from './account.js'
import { call, wordsOf } from './api.js'
import { readCart } from './basket.js'
import { browse } from './browse.js'
import { cart } from './cart.js'
import { checkout } from './checkout.js'
import { el, link, page } from './dom.js'
import { chosenMarket } from './memory.js'
import { order, orders } from './order.js'
import { product } from './product.js'

const PAGES = {
  '': browse,
  products: product,
  cart,
  checkout,
  orders: place => (place.parts.length === 0 ? orders() : order(place, visit)),
  'verify-email': verifyEmail,
  'reset-password': resetPassword
}
const main = document.getElementById('main')
const markets = { all: [], current: undefined }
let visits = 0

/** Links in mails are `/shop/orders/…#token=…`; here that is `/shop#/orders/…/…`. */
function arriveFromMail() {
  const [, page] = /^\/shop(\/.+)/.exec(location.pathname) ?? []
  if (page === undefined) return
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  history.replaceState(null, '', `/shop#${page}${token === null ? '' : `/${token}`}`)
}

/** `#/orders/…?…`, taken apart. Whatever a link must not tell servers stands there. */
function placeNow() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  const [name = '', ...parts] = path.split('/').map(part => decodeURIComponent(part))
  return { name, parts, query: new URLSearchParams(query), markets }
}

/** Shows a page once all of it is there; the one before stays until then. */
async function visit() {
  visits += 1
  const nth = visits
  main.setAttribute('aria-busy', 'true')
  const { title, content } = await make()
  if (nth !== visits) return
  const isFirst = main.querySelector('h1') === null
  document.title = title
  main.replaceChildren(...content.filter(Boolean))
  main.removeAttribute('aria-busy')
  scrollTo(0, 0)
  // Who does not see the page hears that it is another one.
  if (!isFirst) main.querySelector('h1').focus({ preventScroll: true })
}

async function make() {
  try {
    const place = placeNow()
    return await (PAGES[place.name] ?? missing)(place)
  } catch (error) {
    const again = el('button', { onclick: visit }, 'Try again')
    const words = wordsOf(error).map(word => el('p', { role: 'alert' }, word))
    return page('Sorry', ...words, el('p', {}, again, ' ', link('#/', 'To the beginning')))
  }
}
const missing = () => page('There is no such page', el('p', {}, link('#/', 'To the beginning')))

/** Where there are several markets, one is chosen, and all prices are those of it. */
async function showMarkets() {
  const { items } = await call('GET', '/markets')
  const isThere = code => items.some(market => market.code === code)
  if (!isThere(chosenMarket.get())) chosenMarket.forget()
  markets.all = items
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
    // A page of a list belongs to its market.
    if (placeNow().query.has('cursor')) location.hash = '#/'
    else visit()
  })
  label.hidden = false
}

/** What the shop is called, as it says to programs that ask at its front page. */
async function showName() {
  const answer = await fetch('/', { headers: { accept: 'application/json' } })
  document.querySelector('.brand').textContent = (await answer.json()).name
}

document.getElementById('search').addEventListener('submit', event => {
  event.preventDefault()
  const q = document.getElementById('q').value.trim()
  location.hash = q === '' ? '#/' : `#/?${new URLSearchParams({ q })}`
})
arriveFromMail()
addEventListener('hashchange', visit)
showName().catch(() => {})
await showMarkets().catch(() => {})
await Promise.all([visit(), readCart().catch(() => {})])
