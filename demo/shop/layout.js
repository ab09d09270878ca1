import { el, link } from './dom.js'
import { isLoggedIn } from './session.js'
import { chosenLanguage } from './storage.js'
import { language, languages, t } from './texts.js'

/** Shows the header and footer of every page: search, market, menu and language. */
export function showLayout() {
  document.documentElement.lang = language
  document.body.prepend(el('a', { class: 'skip', href: '#main', onclick: skipToMain }, t.page.skip))
  document
    .querySelector('header')
    .replaceChildren(
      el('a', { class: 'brand', href: '#/' }, document.title),
      el('search', {}, searchForm()),
      el('label', { id: 'markets', hidden: true }, `${t.page.market} `, el('select')),
      el(
        'nav',
        { 'aria-label': t.page.navigation },
        el('a', { id: 'account' }),
        link('#/orders', t.menu.orders),
        link('#/cart', `${t.menu.cart} `, el('span', { id: 'count' }))
      )
    )
  document
    .querySelector('footer')
    .replaceChildren(
      el('p', {}, `${t.page.footer} `, link('/', t.page.api)),
      el('label', {}, `${t.page.language} `, languageChoice())
    )
}

/** Updates the account link. Called with every page, because a page can log in and out. */
export function showAccount() {
  const account = document.getElementById('account')
  account.href = isLoggedIn() ? '#/account' : '#/log-in'
  account.textContent = isLoggedIn() ? t.menu.account : t.menu.logIn
}

/** Moves the focus by script, because the part of the address after the `#` selects the page. */
function skipToMain(event) {
  event.preventDefault()
  document.getElementById('main').focus()
}

function searchForm() {
  const input = el('input', {
    id: 'q',
    name: 'q',
    type: 'search',
    maxlength: 100,
    autocomplete: 'off',
    placeholder: t.page.search
  })
  const onsubmit = event => {
    event.preventDefault()
    const q = input.value.trim()
    location.hash = q === '' ? '#/' : `#/?${new URLSearchParams({ q })}`
  }
  return el(
    'form',
    { class: 'search', onsubmit },
    el('label', { class: 'hidden', for: 'q' }, t.page.search),
    input,
    el('button', {}, t.page.search)
  )
}

const languageChoice = () =>
  el(
    'select',
    {
      onchange: event => {
        chosenLanguage.set(event.target.value)
        location.reload()
      }
    },
    languages.map(({ code, name }) =>
      el('option', { value: code, lang: code, selected: code === language }, name)
    )
  )
