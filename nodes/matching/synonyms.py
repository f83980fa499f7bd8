"""Words and phrases of service talk that are said for each other; a general list, of no trade."""

from __future__ import annotations

_GROUPS = """
    cancel, terminate, end, quit, stop, close, discontinue, revoke, call off, get rid of, opt out
    unsubscribe, opt out, cancel
    refund, reimburse, reimbursement, repay, money back, pay back, paid back, compensation
    invoice, bill, receipt, statement
    payment, pay, transfer, transaction, debit
    charge, bill, debit, take money, took money
    price, cost, rate, tariff, fee, premium, quote, how much
    expensive, dear, costly, pricey, overpriced
    increase, rise, go up, went up, raise, higher
    decrease, reduce, lower, go down, went down, drop
    cheap, discount, voucher, coupon, promo, promotion, deal, offer, special offer, sale, reduced
    instalment, installment, pay later, payment plan, monthly, in parts, spread, delay payment
    afford, tight, broke, short of money, unemployed, laid off, lost my job, redundant
    twice, double, duplicate, two times, again
    wrong, incorrect, mistake, error, false, mistaken
    broken, break, damage, crack, smash, destroy, wreck, defective, faulty, ruin, shatter
    not working, doesn't work, does not work, out of order, stopped working, broken, dead, fail
    error, bug, glitch, fault, problem, issue, trouble, failure
    crash, freeze, hang, stuck, unresponsive
    crash, collision, collide, accident, hit, bump, run into, ran into, wreck
    slow, lag, sluggish, takes forever
    steal, theft, rob, robbery, burglary, burglar, thief, break in, broke in, mug, snatch
    lose, miss, disappear, vanish, gone, cannot find, can't find
    fire, burn, smoke, flame, blaze, scorch, blaze
    flood, leak, drip, water, burst, soak, pour, overflow
    storm, wind, hail, lightning, hurricane, gust, tornado, thunder
    injury, injure, hurt, wound, bleed, pain, ambulance, hospital, broken bone
    ill, sick, unwell, illness, disease, doctor, hospital, clinic, fever, vomit, throw up
    die, death, dead, pass away, funeral, deceased, bereavement
    danger, dangerous, emergency, unsafe, urgent, at risk
    doctor, physician, gp, medic, specialist, clinic
    appointment, meeting, booking, reservation, slot, visit
    reschedule, postpone, move, shift, another day, different time
    call back, callback, ring back, phone back, call me, ring me, get back to me, give me a call
    call, phone, ring, telephone
    phone, mobile, cell, smartphone, handset, iphone, telephone
    laptop, computer, notebook, pc, macbook
    tablet, ipad
    tv, television, screen
    internet, wifi, broadband, connection, network, router, online
    website, page, site, web page, homepage, portal, form, browser
    app, application, software, program
    login, log in, log on, sign in, sign on, access, get in, get into, password, username, lock out
    password, passcode, pin, credentials
    account, profile
    code, verification, one-time, otp, sms, text message
    email, mail, e-mail
    address, street, postcode, zip code, mailing address
    move, relocate, moving house, new place, new home, new flat, new house, new apartment
    name, surname, last name, maiden name, marry, divorce, spell
    change, update, switch, amend, correct, edit, modify, new
    house, home, flat, apartment, property, residence, room
    car, vehicle, auto, automobile, van, truck, motor
    bicycle, bike, cycle
    rental car, hire car, replacement car, courtesy car, loan car, rent a car
    driver, drive
    repair, fix, mend, garage, workshop, mechanic, body shop
    technician, engineer, repairman, mechanic
    replace, replacement, exchange, swap, new one, another one
    order, purchase, buy, bought
    return, send back, give back, bring back
    delivery, deliver, shipment, shipping, ship, parcel, package, courier, dispatch
    late, delay, overdue, hold up, still waiting
    arrive, come, receive, get
    track, status, progress, any news, how far, update, how long
    reject, deny, decline, refuse, turn down, denial
    disagree, appeal, dispute, object, contest, unfair, not accept
    accept, approve, agree
    complaint, complain, unhappy, dissatisfied, feedback, unacceptable, terrible service
    angry, furious, annoyed, mad, upset, frustrated, ridiculous, outrageous
    worry, scare, afraid, fear, anxious, nervous, frightened, panic
    human, person, agent, representative, advisor, adviser, operator, staff, employee, real person
    manager, supervisor, boss
    lawyer, attorney, solicitor, court, sue, legal, legal action, lawsuit
    police, cop, officer, sheriff, crime
    scam, fraud, phishing, fake, suspicious, hoax, impostor, pretend
    data, privacy, personal data, information, gdpr
    delete, erase, remove, wipe
    document, paper, papers, certificate, form, letter, file, proof
    photo, picture, image, pic, photograph, snapshot, screenshot, camera
    send, submit, upload, attach, email
    resend, send again
    insurance, cover, coverage, policy, insured, plan, contract, protection
    contract, agreement, subscription, plan, policy, membership
    cover, insure, include, protect
    claim, case
    excess, deductible, pay myself, own share, out of pocket
    liability, liable, my fault, responsible
    renew, renewal, extend, extension, prolong, automatically
    payout, pay out, settlement, paid, transfer
    bank, iban, account number, sort code, direct debit
    card, credit card, debit card, visa, mastercard, cvv
    decline, bounce, did not go through, didn't go through, not go through, fail
    opening hours, open, close, closing time, business hours, weekend
    open, hours, saturday, sunday, weekend, today
    contact, reach, get in touch, get hold of, hotline, number
    where, location, branch, office, nearest, near me
    trip, travel, journey, holiday, vacation, flight, cruise, tour
    flight, plane, airline, fly
    luggage, baggage, bag, suitcase, backpack
    hotel, room, stay, accommodation
    train, rail, railway
    ticket, pass
    abroad, overseas, foreign country, on holiday, on vacation
    mother, mum, mom, father, dad, parent
    husband, wife, spouse, partner
    grandmother, grandma, grandfather, grandpa
    child, kid, baby, son, daughter
    on behalf of, for my, speak for
    neighbour, neighbor, next door, upstairs, downstairs
    friend, someone else, somebody else
    deaf, hearing, hard of hearing
    blind, visually impaired, partially sighted, large print, big letters, screen reader
    allergic, allergy, intolerant
    pregnant, pregnancy, expecting
    school, university, college, student
    job, work, employer, employment
    money, cash, fund, funds
    size, fit, too small, too big
    colour, color
    upgrade, premium, higher plan
    downgrade, lower plan
    language, english, speak, translate, translation
    confirm, confirmation, verify, verification
    explain, understand, mean, confusing, confused, unclear
    explain, how do i, how does
    thanks, thank you, grateful
    goodbye, bye
    hello, good morning, good evening
"""


def synonym_groups() -> list[list[str]]:
    """Return the groups; a word may stand in several."""
    return [[phrase.strip() for phrase in line.split(",")] for line in _GROUPS.strip().splitlines()]
