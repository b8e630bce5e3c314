#include "problems/sequence.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>

namespace conebench {
namespace {

Vector counting(Index rows) { return Vector::LinSpaced(rows, 1.0, static_cast<double>(rows)); }

ImpulseLayout layout(Index joints, Index limits, Index contacts, int dimension, std::vector<std::int64_t> contact_ids,
                     std::vector<std::int64_t> limit_ids, std::vector<double> frames = {}) {
  ImpulseLayout result;
  result.joints = joints;
  result.limits = limits;
  result.contacts = contacts;
  result.contact_dimension = dimension;
  result.normal = dimension == 2 ? 1 : 2;
  result.contact_identities = std::move(contact_ids);
  result.limit_identities = std::move(limit_ids);
  result.contact_frames = std::move(frames);
  return result;
}

TEST(CarriedImpulse, KeepsContactsByIdentityAndStartsNewOnesAtZero) {
  const ImpulseLayout before = layout(0, 0, 3, 3, {10, 20, 30}, {});
  const ImpulseLayout after = layout(0, 0, 3, 3, {30, 40, 10}, {});
  Vector expected(9);
  expected << 7, 8, 9, 0, 0, 0, 1, 2, 3;
  EXPECT_EQ(carried_impulse(before, counting(9), after), expected);
}

TEST(CarriedImpulse, KeepsLimitsByIdentityAndJointsByIndex) {
  const ImpulseLayout before = layout(2, 2, 1, 3, {5}, {100, 200});
  const ImpulseLayout after = layout(2, 3, 0, 3, {}, {300, 200, 400});
  Vector expected(5);
  expected << 1, 2, 0, 4, 0;
  EXPECT_EQ(carried_impulse(before, counting(7), after), expected);
}

TEST(CarriedImpulse, MatchesByIndexWhereNobodyHasIdentitiesAndTheNumbersAgree) {
  const ImpulseLayout same = layout(1, 1, 2, 2, {}, {});
  EXPECT_EQ(carried_impulse(same, counting(6), same), counting(6));
  const ImpulseLayout one_more = layout(1, 2, 2, 2, {}, {});
  Vector expected(7);
  expected << 1, 0, 0, 3, 4, 5, 6;
  EXPECT_EQ(carried_impulse(same, counting(6), one_more), expected);
}

TEST(CarriedImpulse, KeepsIntervalsByIndexAndContactsOfOtherSizesByIdentity) {
  ImpulseLayout before = layout(1, 0, 2, 0, {7, 8}, {});
  before.intervals = 2;
  before.normal = 0;
  before.contact_rows = {3, 4};
  before.normals = {2, 3};
  ImpulseLayout after = before;
  after.contact_identities = {8, 9};
  after.contact_rows = {4, 3};
  after.normals = {3, 2};
  Vector expected(10);
  expected << 1, 2, 3, 7, 8, 9, 10, 0, 0, 0;
  EXPECT_EQ(carried_impulse(before, counting(10), after), expected);
}

TEST(CarriedImpulse, KeepsTheForceOfAConeWhoseShiftChanges) {
  ImpulseLayout before = layout(0, 0, 1, 3, {1}, {});
  before.shifts = {2.0};
  ImpulseLayout after = layout(0, 0, 1, 3, {1}, {});
  after.shifts = {0.5};
  EXPECT_EQ(carried_impulse(before, Eigen::Vector3d(1, 2, 3), after), Vector(Eigen::Vector3d(1, 2, 1.5)));
}

TEST(CarriedImpulse, TurnsTheMomentAboutTheNormalAndThoseAboutTangents) {
  // (t1, t2, m_n, m1, m2, n), the tangents turned by a right angle.
  ImpulseLayout before = layout(0, 0, 1, 0, {1}, {}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  before.normal = 0;
  before.contact_rows = {6};
  before.normals = {5};
  ImpulseLayout after = before;
  after.contact_frames = {0, 1, 0, -1, 0, 0, 0, 0, 1};
  Vector expected(6);
  expected << 2, -1, 3, 5, -4, 6;
  EXPECT_EQ(carried_impulse(before, counting(6), after), expected);
}

TEST(CarriedImpulse, DoesNotMixThePlaneWithSpace) {
  const ImpulseLayout plane = layout(0, 0, 3, 2, {1, 2, 3}, {});
  const ImpulseLayout space = layout(0, 0, 2, 3, {1, 2}, {});
  EXPECT_EQ(carried_impulse(plane, counting(6), space), Vector::Zero(6));
}

TEST(CarriedImpulse, TurnsContactsIntoTheirNewFrames) {
  // The first contact's tangents are turned by a right angle, the second one's frame is as before.
  const std::vector<double> world = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const std::vector<double> turned = {0, 1, 0, -1, 0, 0, 0, 0, 1};
  ImpulseLayout before = layout(0, 0, 2, 3, {1, 2}, {}, world);
  before.contact_frames.insert(before.contact_frames.end(), world.begin(), world.end());
  ImpulseLayout after = layout(0, 0, 2, 3, {2, 1}, {}, world);
  after.contact_frames.insert(after.contact_frames.end(), turned.begin(), turned.end());
  Vector expected(6);
  expected << 4, 5, 6, 2, -1, 3;
  EXPECT_EQ(carried_impulse(before, counting(6), after), expected);
  after.contact_frames.clear();
  expected << 4, 5, 6, 1, 2, 3;
  EXPECT_EQ(carried_impulse(before, counting(6), after), expected)
      << "component by component where frames are not known";
}

TEST(CarriedImpulse, TurnsInThePlane) {
  const ImpulseLayout before = layout(0, 0, 1, 2, {1}, {}, {1, 0, 0, 1});
  const ImpulseLayout after = layout(0, 0, 1, 2, {1}, {}, {0, 1, -1, 0});
  EXPECT_EQ(carried_impulse(before, counting(2), after), Vector(Eigen::Vector2d(2, -1)));
}

TEST(CarriedImpulse, RefusesAnotherSize) {
  const ImpulseLayout one = layout(0, 0, 1, 3, {}, {});
  EXPECT_THROW(carried_impulse(one, counting(4), one), std::invalid_argument);
}

ContactProblem problem_of(const Configuration& configuration, const std::string& file) {
  ContactProblemData data;
  data.cones = ConeProduct::create(0, 1, {0.5}).value();
  data.delassus = make_dense_delassus(Matrix::Identity(4, 4));
  data.free_term = Vector::Zero(4);
  data.configuration = configuration;
  data.provenance.source_file = file;
  data.provenance.form = "global";
  return ContactProblem::create(std::move(data)).value();
}

TEST(SequencePositions, FollowTheSceneTheSeedTheCoordinatesAndTheFolder) {
  Configuration known;
  EXPECT_FALSE(position_in_sequence(problem_of(known, "a/1.hdf5")));
  known.scene = "chain links=3";
  EXPECT_FALSE(position_in_sequence(problem_of(known, "a/1.hdf5")));
  known.step = 4;
  const auto position = position_in_sequence(problem_of(known, "a/1.hdf5"));
  ASSERT_TRUE(position);
  EXPECT_EQ(position->step, 4);
  EXPECT_EQ(*position_in_sequence(problem_of(known, "a/2.hdf5")), *position);
  EXPECT_NE(position_in_sequence(problem_of(known, "b/1.hdf5"))->sequence, position->sequence);
  Configuration other = known;
  other.seed = 2;
  EXPECT_NE(position_in_sequence(problem_of(other, "a/1.hdf5"))->sequence, position->sequence);
  other = known;
  other.coordinates = Coordinates::maximal;
  EXPECT_NE(position_in_sequence(problem_of(other, "a/1.hdf5"))->sequence, position->sequence);
  other = known;
  other.scene = "chain links=4";
  EXPECT_NE(position_in_sequence(problem_of(other, "a/1.hdf5"))->sequence, position->sequence);
}

TEST(SequencePositions, LayoutsHoldWhatTheProblemKnows) {
  Configuration known;
  known.contact_identities = {{9}};
  known.limit_identities = {{3}};
  const ImpulseLayout layout = layout_of(problem_of(known, ""));
  EXPECT_EQ(layout.rows(), 4);
  EXPECT_EQ(layout.contact_identities, std::vector<std::int64_t>{9});
  EXPECT_EQ(layout.limit_identities, std::vector<std::int64_t>{3});
}

TEST(Predecessors, AreTheSequencesLastStepBefore) {
  using Positions = std::vector<std::optional<SequencePosition>>;
  const Positions positions = {SequencePosition{"a", 7}, SequencePosition{"b", 3}, std::nullopt,
                               SequencePosition{"a", 2}, SequencePosition{"a", 5}, SequencePosition{"b", 4},
                               SequencePosition{"a", 5}, SequencePosition{"b", 4}};
  const auto before = predecessors(positions);
  const std::vector<std::optional<std::size_t>> expected = {6, std::nullopt, std::nullopt, std::nullopt, 3, 1, 3, 1};
  EXPECT_EQ(before, expected);
}

}  // namespace
}  // namespace conebench
