// Days and seconds since 2000-01-01 as dates and times, against known days of the calendar.
#include "model/labels/time_label.h"

#include <gtest/gtest.h>

namespace dpboost {
namespace {

TEST(TimeLabel, NamesDays) {
    const auto day = [](double days) { return TimeText(days, TimeColumn::kDate); };
    EXPECT_EQ(day(0), "2000-01-01");
    EXPECT_EQ(day(59), "2000-02-29");
    EXPECT_EQ(day(60), "2000-03-01");
    EXPECT_EQ(day(-1), "1999-12-31");
    EXPECT_EQ(day(-10957), "1970-01-01");
    EXPECT_EQ(day(-36524), "1900-01-01");
    EXPECT_EQ(day(-36465), "1900-03-01");  // no leap year
    EXPECT_EQ(day(9817.5), "2026-11-17");
    EXPECT_EQ(day(-730119), "0001-01-01");
    EXPECT_EQ(day(2921939), "9999-12-31");
    EXPECT_EQ(day(2921940), "2921940");  // beyond the calendar
    EXPECT_EQ(day(-730120), "-730120");
    EXPECT_EQ(day(1e300), "1e300");
}

// Every day follows the one before.
TEST(TimeLabel, CountsDaysLikeACalendar) {
    int year = 1895, month = 1, day = 1;
    const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    for (int days = -38350; days < 45000; days++) {
        char expected[32];
        std::snprintf(expected, sizeof expected, "%04d-%02d-%02d", year, month, day);
        ASSERT_EQ(TimeText(days, TimeColumn::kDate), expected);
        const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        if (++day > lengths[month - 1] + (month == 2 && leap ? 1 : 0)) {
            day = 1;
            if (++month > 12) {
                month = 1;
                year++;
            }
        }
    }
}

TEST(TimeLabel, NamesTimes) {
    const auto time = [](double seconds) { return TimeText(seconds, TimeColumn::kTimestamp); };
    EXPECT_EQ(time(0), "2000-01-01 00:00");
    EXPECT_EQ(time(-60), "1999-12-31 23:59");
    EXPECT_EQ(time(848212260), "2026-11-17 06:31");
}

TEST(TimeLabel, ReplacesTheNumbersOfALabel) {
    EXPECT_EQ(WithTimes("[0, 59.5]", TimeColumn::kDate), "[2000-01-01, 2000-02-29]");
    EXPECT_EQ(WithTimes("(-1, 60]", TimeColumn::kDate), "(1999-12-31, 2000-03-01]");
    EXPECT_EQ(WithTimes("-1 .. 60", TimeColumn::kDate), "1999-12-31 .. 2000-03-01");
    EXPECT_EQ(WithTimes("7", TimeColumn::kDate), "2000-01-08");
    EXPECT_EQ(WithTimes("null", TimeColumn::kDate), "null");
    EXPECT_EQ(WithTimes("", TimeColumn::kTimestamp), "");
}

std::string Names(double from, double to, int most, TimeColumn column) {
    std::string names;
    for (const auto& [at, name] : TimeTicks(from, to, most, column)) {
        EXPECT_GE(at, from);
        EXPECT_LE(at, to);
        names += (names.empty() ? "" : " ") + name;
    }
    return names;
}

TEST(TimeLabel, TicksAreRound) {
    EXPECT_EQ(Names(5479, 9497, 6, TimeColumn::kDate), "2016 2018 2020 2022 2024 2026");
    EXPECT_EQ(Names(-36525, 7305, 6, TimeColumn::kDate), "1900 1920 1940 1960 1980 2000 2020");
    EXPECT_EQ(Names(10, 200, 6, TimeColumn::kDate), "2000-03 2000-05 2000-07");
    EXPECT_EQ(Names(0, 20, 6, TimeColumn::kDate), "2000-01-01 2000-01-11 2000-01-21");
    EXPECT_EQ(Names(0, 86400, 6, TimeColumn::kTimestamp), "00:00 06:00 12:00 18:00 00:00");
    EXPECT_EQ(Names(631152000, 757382400, 6, TimeColumn::kTimestamp), "2020 2021 2022 2023 2024");
    EXPECT_EQ(Names(5, 5, 6, TimeColumn::kDate), "");
    EXPECT_EQ(Names(0, 1e12, 6, TimeColumn::kDate), "");
}

}  // namespace
}  // namespace dpboost
