// Takes the picture of the page for the README, from a real call: node test/picture.mjs OUT.png [light|dark]
import { launch, openPage, says } from './browser.mjs'
import { startGateway } from './live.mjs'
import { wav } from './speech.mjs'

const [out, colorScheme = 'light'] = process.argv.slice(2)
if (!out) throw new Error('usage: node test/picture.mjs OUT.png [light|dark]')
const gateway = await startGateway()
const browser = await launch({ wav: wav(3, 'open the document welcome', 7, 'tell me a long story', 5, 'stop', 4).path })
try {
  const page = await openPage(browser, gateway.url, { size: { width: 1280, height: 860 }, colorScheme })
  await page.click('#start')
  await says(page, 'phase', 'live')
  await page.waitForSelector('#log del', { timeout: 60_000 })
  await page.waitForFunction(() => document.querySelectorAll('#log .line[data-speaker=assistant]').length > 2)
  await says(page, 'state', 'listening')
  await page.fill('#words', 'Otevři dokument Jak funguje kauce')
  await page.press('#words', 'Enter')
  await page.waitForSelector('#reader[data-document=deposit-rules]')
  await says(page, 'state', 'speaking')
  await page.waitForFunction(() => /kauc|deposit/i.test([...document.querySelectorAll('#log .line[data-speaker=assistant]')].pop().textContent))
  await page.evaluate(() => document.activeElement.blur())
  await page.waitForFunction((t) => performance.now() > t + 1_500, await page.evaluate(() => performance.now()))
  await page.screenshot({ path: out })
} finally {
  await browser.close()
  await gateway.stop()
}
