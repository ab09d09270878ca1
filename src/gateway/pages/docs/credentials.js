import { el } from './dom.js'
import { findKeyExchange } from './openapi.js'

/** An access token is exchanged again so long before it expires. */
const MARGIN_MS = 30_000

/** Kept in memory only: a reload forgets them. */
let credentials = {}

/** Returns the access token for a request; undefined when there is none. An API key is exchanged for one when it is needed. */
export async function accessToken() {
  const { apiKey, expiresAt } = credentials
  if (apiKey !== undefined && Date.now() > expiresAt - MARGIN_MS) await exchange(apiKey)
  return credentials.token
}

export function useToken(token) {
  credentials = token === '' ? {} : { token }
  document.getElementById('authorize').textContent = token === '' ? 'Authorize' : 'Authorized'
}

async function exchange(apiKey) {
  const { path } = findKeyExchange()
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: apiKey })
  })
  const content = await response.json()
  if (!response.ok) throw new Error(`${content.code}: ${content.detail}`)
  useToken(content.access_token)
  credentials = { ...credentials, apiKey, expiresAt: Date.now() + content.expires_in * 1_000 }
}

/** Opens the dialog in which an access token or an API key is entered. */
export function openCredentials() {
  const token = secretInput('token')
  const apiKey = secretInput('api-key')
  const problem = el('p', { role: 'alert' })
  const save = async event => {
    event.preventDefault()
    try {
      if (apiKey.value.trim() !== '') await exchange(apiKey.value.trim())
      else useToken(token.value.trim().replace(/^Bearer /i, ''))
      dialog.close()
    } catch (error) {
      problem.textContent = error.message
    }
  }
  const forget = () => {
    useToken('')
    dialog.close()
  }
  const form = el(
    'form',
    { onsubmit: save },
    el('h2', { id: 'authorize-title' }, 'Authorize'),
    el('p', {}, 'Used for the requests of this page, and forgotten when it is reloaded or closed.'),
    el('label', { for: 'token' }, 'Access token'),
    token,
    findKeyExchange() !== undefined && [el('label', { for: 'api-key' }, 'Or an API key'), apiKey],
    problem,
    el(
      'p',
      { class: 'buttons' },
      el('button', { class: 'main' }, 'Use'),
      el('button', { type: 'button', onclick: forget }, 'Forget'),
      el('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel')
    )
  )
  const dialog = el('dialog', { 'aria-labelledby': 'authorize-title', onclose: () => dialog.remove() }, form)
  document.body.append(dialog)
  dialog.showModal()
}

/** Not of the type password, which browsers offer to save. */
const secretInput = id => el('input', { id, class: 'secret', autocomplete: 'off', spellcheck: 'false' })
