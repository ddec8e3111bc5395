// Replaces `Date`: the current time is script time, and the local zone is a fixed offset instead of the machine's.
//
// The methods that read or write UTC stay native. Everything that would ask the machine for its zone is rebuilt from
// them by shifting, and parsing accepts only the formats of the standard: those of `toISOString`, `toString` and
// `toUTCString` (a space may stand for the `T`). A date-time without a zone is local, a date alone is UTC.
(native, zoneMinutes) => {
  'use strict';

  const Native = globalThis.Date;
  const { UTC, prototype } = Native;
  const { apply, construct } = Reflect;
  const { defineProperty } = Object;
  const { getTime, setTime } = prototype;

  const zoneMs = zoneMinutes * 60000;
  const time = (date) => apply(getTime, date, []);
  // A date whose UTC fields are the local fields of `date`.
  const shifted = (date) => new Native(time(date) + zoneMs);
  const define = (object, name, value) => {
    defineProperty(object, name, { value, writable: true, configurable: true });
  };

  // --- Fields --------------------------------------------------------------------------------------------------

  for (const field of ['FullYear', 'Month', 'Date', 'Day', 'Hours', 'Minutes', 'Seconds', 'Milliseconds']) {
    const get = prototype[`getUTC${field}`];
    define(prototype, `get${field}`, function () {
      return apply(get, shifted(this), []);
    });
    const set = prototype[`setUTC${field}`];
    if (set === undefined) continue; // There is no setDay.
    define(prototype, `set${field}`, function (...parts) {
      const local = shifted(this);
      apply(set, local, parts);
      return apply(setTime, this, [time(local) - zoneMs]);
    });
  }
  delete prototype.getYear;
  delete prototype.setYear;
  define(prototype, 'getTimezoneOffset', function () {
    return Number.isNaN(time(this)) ? NaN : 0 - zoneMinutes;
  });

  // --- Text ----------------------------------------------------------------------------------------------------

  const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
  const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

  const digits = (number, width) => `${number < 0 ? '-' : ''}${String(Math.abs(number)).padStart(width, '0')}`;
  const zoneText = () => {
    const minutes = Math.abs(zoneMinutes);
    return `GMT${zoneMinutes < 0 ? '-' : '+'}${digits(Math.trunc(minutes / 60), 2)}${digits(minutes % 60, 2)}`;
  };
  const dateText = (date) =>
    `${DAYS[date.getDay()]} ${MONTHS[date.getMonth()]} ${digits(date.getDate(), 2)} ${digits(date.getFullYear(), 4)}`;
  const clockText = (date) =>
    `${digits(date.getHours(), 2)}:${digits(date.getMinutes(), 2)}:${digits(date.getSeconds(), 2)}`;
  const isoDay = (date) =>
    `${digits(date.getFullYear(), 4)}-${digits(date.getMonth() + 1, 2)}-${digits(date.getDate(), 2)}`;

  const texts = {
    toString: (date) => `${dateText(date)} ${clockText(date)} ${zoneText()}`,
    toDateString: dateText,
    toTimeString: (date) => `${clockText(date)} ${zoneText()}`,
    toLocaleString: (date) => `${isoDay(date)} ${clockText(date)}`,
    toLocaleDateString: isoDay,
    toLocaleTimeString: clockText,
  };
  for (const name in texts) {
    define(prototype, name, function () {
      return Number.isNaN(time(this)) ? 'Invalid Date' : texts[name](this);
    });
  }

  // --- Parsing -------------------------------------------------------------------------------------------------

  const ISO =
    /^([+-]\d{6}|\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|[+-]\d\d:?\d\d)?)?$/i;
  const WORDS =
    /^(?:[a-z]{3},? )?(?:([a-z]{3}) (\d\d?)|(\d\d?) ([a-z]{3})) (-?\d{4,6})(?: (\d\d):(\d\d)(?::(\d\d))?(?: ?(?:(?:GMT|UTC)([+-]\d{4})?|([+-]\d{4})))?( \(.*\))?)?$/i;

  const zoneOf = (text) => {
    if (text === undefined || /^z$/i.test(text)) return 0;
    const sign = text[0] === '-' ? -1 : 1;
    return sign * (Number(text.slice(1, 3)) * 60 + Number(text.slice(-2))) * 60000;
  };

  const at = (year, month, day, hour, minute, second, ms, offset) => {
    const date = new Native(0);
    date.setUTCFullYear(year, month, day);
    const real = date.getUTCMonth() === month && date.getUTCDate() === day;
    const midnight = hour === 24 && minute === 0 && second === 0 && ms === 0;
    if (!real || minute > 59 || second > 59 || (hour > 23 && !midnight)) return NaN;
    date.setUTCHours(hour, minute, second, ms);
    return time(new Native(time(date) - offset));
  };

  const parse = (input) => {
    const text = String(input).trim();
    const iso = ISO.exec(text);
    if (iso !== null) {
      const [, year, month = 1, day = 1, hour, minute = 0, second = 0, fraction = '', zone] = iso;
      if (year === '-000000') return NaN;
      const local = hour !== undefined && zone === undefined;
      const ms = Number(fraction.padEnd(3, '0').slice(0, 3));
      const offset = local ? zoneMs : zoneOf(zone);
      return at(+year, month - 1, +day, +(hour ?? 0), +minute, +second, ms, offset);
    }
    const words = WORDS.exec(text);
    if (words !== null) {
      const [, month1, day1, day2, month2, year, hour = 0, minute = 0, second = 0, zone1, zone2] = words;
      const name = (month1 ?? month2).toLowerCase();
      const month = MONTHS.findIndex((candidate) => candidate.toLowerCase() === name);
      const zone = zone1 ?? zone2;
      const local = zone === undefined && !/GMT|UTC/i.test(text);
      const offset = local ? zoneMs : zoneOf(zone);
      return month < 0 ? NaN : at(+year, month, +(day1 ?? day2), +hour, +minute, +second, 0, offset);
    }
    return NaN;
  };

  // --- The constructor -----------------------------------------------------------------------------------------

  const isDate = (value) => {
    try {
      time(value);
      return true;
    } catch {
      return false;
    }
  };
  const timeOf = (value) => {
    if (isDate(value)) return time(value);
    const plain = Object(value) === value ? value.valueOf() : value;
    return typeof plain === 'string' || Object(plain) === plain ? parse(plain) : +plain;
  };

  const Date = function (...parts) {
    if (new.target === undefined) return texts.toString(new Native(native.now()));
    let value;
    if (parts.length === 0) value = native.now();
    else if (parts.length === 1) value = timeOf(parts[0]);
    else value = UTC(...parts) - zoneMs;
    return construct(Native, [value], new.target);
  };
  define(Date, 'length', 7);
  define(Date, 'now', () => native.now());
  define(Date, 'parse', parse);
  define(Date, 'UTC', UTC);
  defineProperty(Date, 'prototype', { value: prototype, writable: false });
  // Otherwise `new Date().constructor` would be the native one.
  define(prototype, 'constructor', Date);
  define(globalThis, 'Date', Date);
};
